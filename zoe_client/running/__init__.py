"""What `run` and `map` return."""
