"""A change that would help, in words."""

from __future__ import annotations

from zoe_cli.units import size
from zoe_lib.wire import ChangeView


def change_words(change: ChangeView) -> str:
    """The change in words, after "with"."""
    match change.part:
        case "essential_count":
            return f"{change.after} essential instances of {change.component} instead of {change.before}"
        case "memory_bytes":
            return f"{size(change.after)} of memory for each {change.component} instead of {size(change.before)}"
        case "cores_milli":
            return f"{change.after / 1000:g} cores for each {change.component} instead of {change.before / 1000:g}"
