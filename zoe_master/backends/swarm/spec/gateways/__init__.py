"""The gateway of an execution."""
