"""Statements, limits and usage."""
