"""Read values from a document whose types are not yet checked."""

from __future__ import annotations

from typing import Any


def objects(owner: dict[str, Any], key: str) -> list[tuple[int, dict[str, Any]]]:
    """Yield the objects in the list under this key with their indexes; skip entries of other types."""
    found = owner.get(key)
    return [(i, item) for i, item in enumerate(found) if isinstance(item, dict)] if isinstance(found, list) else []


def mapping(owner: dict[str, Any], key: str) -> dict[str, Any]:
    """Return the object under this key; empty if there is none."""
    found = owner.get(key)
    return found if isinstance(found, dict) else {}


def text(owner: dict[str, Any], key: str) -> str | None:
    """Return the text under that key, or None."""
    found = owner.get(key)
    return found if isinstance(found, str) else None


def number(owner: dict[str, Any], key: str) -> int | None:
    """Return the whole number under that key, or None."""
    found = owner.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else None
