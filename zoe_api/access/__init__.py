"""Access control: the client, visible executions, and the form of responses."""
