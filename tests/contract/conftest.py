"""Databases and stores for the suites of each Protocol."""

from tests.support.postgres import postgres_server, postgres_url, store
from tests.support.stores import any_store, open_store, unreachable_store

__all__ = ["any_store", "open_store", "postgres_server", "postgres_url", "store", "unreachable_store"]
