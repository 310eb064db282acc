"""Addresses of those who ask, and those that others wrote into a request or an answer."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from starlette.requests import HTTPConnection


def address_of(connection: HTTPConnection) -> str:
    """Return the address of the one who asks; as a trusted proxy says, when there is one between."""
    return connection.client.host if connection.client else ""


def parts_of(address: str) -> SplitResult | None:
    """Its parts; None when it is no address."""
    try:
        parts = urlsplit(address)
        _ = parts.port  # looked at here only: it raises for what is no number
    except ValueError:
        return None
    return parts
