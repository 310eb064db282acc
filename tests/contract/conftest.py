"""Databases and stores for the suites of each Protocol."""

from tests.support.postgres import postgres_server, postgres_url, store
from tests.support.stores import accounts, any_store, bounded_store, open_accounts, open_store, unreachable_store

__all__ = [
    "accounts",
    "any_store",
    "bounded_store",
    "open_accounts",
    "open_store",
    "postgres_server",
    "postgres_url",
    "store",
    "unreachable_store",
]
