"""Users and their tokens, in the database that a test uses."""

from __future__ import annotations

import hashlib
import secrets
import time

from tests.support.secrets_in_logs import SECRETS
from zoe_lib.store.people import Token
from zoe_lib.store.postgres.store import PostgresStore

ALL_SCOPES = ("read", "submit", "operate", "admin")


def make_token(
    store: PostgresStore,
    user: str = "ada",
    tenant: str = "red",
    role: str = "user",
    scopes: tuple[str, ...] = ("read", "submit"),
    lifetime_s: float | None = None,
) -> str:
    """Return a new token of a member, who is made if missing."""
    store.accounts.ensure_member(user, tenant, role)
    token_id, secret, now_s = secrets.token_hex(6), secrets.token_hex(24), time.time()
    end_s = None if lifetime_s is None else now_s + lifetime_s
    hashed = hashlib.sha256(secret.encode()).hexdigest()
    store.accounts.add_token(Token(token_id, user, tenant, hashed, frozenset(scopes), now_s, end_s))
    return SECRETS.note_token(f"zoe_{token_id}_{secret}")


def admin_token(store: PostgresStore, user: str = "root") -> str:
    return make_token(store, user, "red", "admin", ALL_SCOPES)
