"""Commands that show the state of executions, and the reasons."""
