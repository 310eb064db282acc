"""Notes on standard error about an execution: why it waits, and how its output ended."""
