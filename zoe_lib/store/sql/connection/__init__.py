"""Connections to PostgreSQL, and prepared statements."""
