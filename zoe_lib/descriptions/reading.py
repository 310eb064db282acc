"""Careful reads of a plain document whose types are not known yet."""

from __future__ import annotations

from typing import Any


def objects(owner: dict[str, Any], key: str) -> list[tuple[int, dict[str, Any]]]:
    """The objects in a list under that key with their indexes; what is no object is left out."""
    found = owner.get(key)
    return [(i, item) for i, item in enumerate(found) if isinstance(item, dict)] if isinstance(found, list) else []


def mapping(owner: dict[str, Any], key: str) -> dict[str, Any]:
    """The object under that key; empty when there is none."""
    found = owner.get(key)
    return found if isinstance(found, dict) else {}


def text(owner: dict[str, Any], key: str) -> str | None:
    """The text under that key, or None."""
    found = owner.get(key)
    return found if isinstance(found, str) else None


def number(owner: dict[str, Any], key: str) -> int | None:
    """The whole number under that key, or None."""
    found = owner.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else None
