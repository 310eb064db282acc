"""Addresses that others wrote into a request or an answer."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit


def parts_of(address: str) -> SplitResult | None:
    """Its parts; None when it is no address."""
    try:
        parts = urlsplit(address)
        _ = parts.port  # looked at here only: it raises for what is no number
    except ValueError:
        return None
    return parts
