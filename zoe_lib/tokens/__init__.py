"""Tokens of users and of jobs."""
