"""Commands that go into an execution: terminals, ssh, files."""
