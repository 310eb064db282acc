"""Transitions of executions, and their consequences."""
