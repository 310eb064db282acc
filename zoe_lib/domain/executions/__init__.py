"""Executions, arrays, promises, limits, and the use of resources."""
