"""Queries on executions and their use."""
