"""Executions, their promises, deadlines, shares and events."""
