"""The store in PostgreSQL."""
