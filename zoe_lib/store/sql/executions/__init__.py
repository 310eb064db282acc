"""Executions as rows, and questions about them."""
