"""The text of API tokens, and the first admin's token, which creates all others."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.store.people import Token
from zoe_lib.store.postgres.accounts import AccountStore

FIRST_USER = "admin"
FIRST_TENANT = "default"
ALL_SCOPES = frozenset(scope.value for scope in Scope)
_PREFIX = "zoe"
_PARTS = 3


@dataclass(frozen=True, slots=True)
class TokenText:
    """A token as users send it: its public id, and the secret, of which only a hash is stored."""

    id: str
    secret: str

    @classmethod
    def new(cls) -> TokenText:
        """Return a random token."""
        return cls(secrets.token_hex(6), secrets.token_hex(24))

    @classmethod
    def read(cls, text: str) -> TokenText | None:
        """Return the parts of a text; None if it is not a token."""
        parts = text.split("_", _PARTS - 1)
        return cls(parts[1], parts[2]) if len(parts) == _PARTS and parts[0] == _PREFIX else None

    @property
    def secret_hash(self) -> str:
        """Return the stored hash of the secret, which is random and long, so one round of SHA-256 is enough."""
        return hashlib.sha256(self.secret.encode()).hexdigest()

    def __str__(self) -> str:
        return f"{_PREFIX}_{self.id}_{self.secret}"


def add_admin_token(accounts: AccountStore, text: TokenText, note: str, clock: Clock = SYSTEM_CLOCK) -> None:
    """Create the first tenant and its admin if missing, and give this token all rights of that admin."""
    accounts.ensure_member(FIRST_USER, FIRST_TENANT, "admin")
    accounts.add_token(
        Token(text.id, FIRST_USER, FIRST_TENANT, text.secret_hash, ALL_SCOPES, clock.now_s(), None, note)
    )


def has_valid_admin_token(accounts: AccountStore, now_s: float) -> bool:
    """Return whether an admin has a valid token, which can create others."""
    able = (token for token in accounts.tokens() if "admin" in token.scopes)
    found = (accounts.principal(token.id, now_s) for token in able)
    return any(who is not None and Scope.ADMIN in who[0].scopes for who in found)
