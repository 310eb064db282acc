"""What lets Zoe run on a bare machine: a home directory and a PostgreSQL of its own."""

from zoe_embedded.home import Account, Home, HomeError
from zoe_embedded.postgres import EmbeddedPostgres, EmbeddedPostgresError

__all__ = ["Account", "EmbeddedPostgres", "EmbeddedPostgresError", "Home", "HomeError"]
