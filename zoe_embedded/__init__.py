"""Run Zoe on a bare machine: a home directory and an embedded PostgreSQL."""

from zoe_embedded.home import Account, Home, HomeError
from zoe_embedded.postgres import EmbeddedPostgres, EmbeddedPostgresError

__all__ = ["Account", "EmbeddedPostgres", "EmbeddedPostgresError", "Home", "HomeError"]
