"""Notifications of what happens to executions, by webhook and by mail."""
