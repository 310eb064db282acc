"""Executions: lists, changes, logs, results, shares."""
