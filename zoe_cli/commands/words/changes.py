"""Describe a change that would help."""

from __future__ import annotations

from zoe_cli.units import size
from zoe_client.wire import ChangeView
from zoe_client.words.amounts import cores, count_with_noun


def change_words(change: ChangeView) -> str:
    """Return the change as text to follow "with"."""
    match change.part:
        case "essential_count":
            instances = count_with_noun(change.after, "essential instance")
            return f"{instances} of {change.component} instead of {change.before}"
        case "memory_bytes":
            return f"{size(change.after)} of memory for each {change.component} instead of {size(change.before)}"
        case "cores_milli":
            return f"{cores(change.after)} for each {change.component} instead of {cores(change.before)}"
