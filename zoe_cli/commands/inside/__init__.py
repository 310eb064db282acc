"""Commands inside an execution: terminals, ssh, files."""
