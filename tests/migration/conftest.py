"""Databases of a real PostgreSQL."""

from tests.support.postgres import postgres_server, postgres_url, store

__all__ = ["postgres_server", "postgres_url", "store"]
