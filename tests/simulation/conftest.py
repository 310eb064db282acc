"""A store on a real PostgreSQL, beside the one in memory."""

from tests.support.postgres import postgres_server, postgres_url, store

__all__ = ["postgres_server", "postgres_url", "store"]
