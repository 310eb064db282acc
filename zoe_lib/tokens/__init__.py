"""Tokens of people and of jobs."""
