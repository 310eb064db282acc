"""Refuse parameters of listings that `s3api` would answer with status 500. Pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

_TYPE, _TOKEN = "list-type", "continuation-token"
_TYPES = ("1", "2")


def wrong_parameter(query: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the name of a parameter that cannot be read, and a sentence; None if there is none."""
    kind = query.get(_TYPE)
    if kind is not None and kind not in _TYPES:
        return _TYPE, "Use list-type=2, or no list-type."
    if kind == "2" and _TOKEN in query and not _is_token(query[_TOKEN]):
        return _TOKEN, "The continuation token provided is incorrect: use the NextContinuationToken of a listing."
    return None


def _is_token(text: str) -> bool:
    try:
        return bool(base64.b64decode(text, validate=True).decode())
    except (binascii.Error, UnicodeError):
        return False
