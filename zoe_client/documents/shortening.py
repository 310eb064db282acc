"""Name the first of many, and say how many more there are."""

from __future__ import annotations

from collections.abc import Sequence


def shortened(names: Sequence[str], most: int) -> str:
    """Return names separated by commas; of more than `most`, the number of the others stands at the end."""
    left = len(names) - most
    return ", ".join(names[:most]) + (f" and {left} more" if left > 0 else "")
