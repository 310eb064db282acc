"""Notifications about executions, by webhook and by mail."""
