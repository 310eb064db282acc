"""Shorten lists of names in messages."""

from __future__ import annotations

from collections.abc import Sequence


def shortened_list(names: Sequence[str], most: int) -> str:
    """Return the first `most` names, separated by commas, and how many more there are."""
    left = len(names) - most
    return ", ".join(names[:most]) + (f" and {left} more" if left > 0 else "")
