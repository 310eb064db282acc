"""Who is asking, and tokens."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from zoe_lib.wire.base import SECONDS_MAX, Wire


class PrincipalView(Wire):
    """Who is asking."""

    user: str
    tenant: str
    admin: bool
    scopes: list[str]


class TokenRequest(Wire):
    """A new API token."""

    scopes: list[Literal["read", "submit", "admin"]] = Field(default=["read", "submit"])
    lifetime_s: float | None = Field(default=None, gt=0, le=SECONDS_MAX, description="None never expires.")
    note: str = Field(default="", max_length=200)


class TokenView(Wire):
    """A token as kept; `secret` is given once, when it is made."""

    id: str
    user: str
    tenant: str
    scopes: list[str]
    created_at_s: float
    expires_at_s: float | None
    note: str
    secret: str | None = None


class TokenList(Wire):
    """All tokens of a user."""

    tokens: list[TokenView]
