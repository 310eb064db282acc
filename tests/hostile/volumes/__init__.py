"""Kill the parts of attached volumes before a backing that loses what was not flushed."""

from __future__ import annotations

from pathlib import Path


def volatile_plugin() -> str:
    """Return the file of the backing, which nbdkit runs."""
    return str(Path(__file__).with_name("volatile.py"))
