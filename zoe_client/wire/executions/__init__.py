"""Executions, and what is said of one."""
