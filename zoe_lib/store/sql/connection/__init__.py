"""Connections to PostgreSQL, and statements that the server keeps."""
