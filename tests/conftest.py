"""Fixtures that any test may ask for."""

from tests.support.postgres import postgres_server, postgres_url, store
from tests.support.stores import any_store, open_store, unreachable_store

__all__ = ["any_store", "open_store", "postgres_server", "postgres_url", "store", "unreachable_store"]
