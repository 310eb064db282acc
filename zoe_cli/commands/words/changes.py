"""Describe a change that would help."""

from __future__ import annotations

import time

from zoe_cli.units import clock, size
from zoe_client.wire import ChangeView, OwnUseView
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


def own_use_words(found: OwnUseView, start_s: float | None = None) -> str:
    """Return which of the user's executions hold how much, and the way on. start_s: expected start of the waiting."""
    more = f" and {found.count - len(found.ids)} more" if found.count > len(found.ids) else ""
    unit = "of memory" if found.what == "memory" else "cores"
    held, total = (size(int(n)) if found.what == "memory" else f"{n:.3g}" for n in (found.held, found.total))
    one = found.count == 1
    wait = f"wait until about {clock(start_s)}" if start_s is not None and start_s > time.time() else "wait"
    return (
        f"Your own {'execution' if one else 'executions'} {', '.join(found.ids)}{more} "
        f"{'holds' if one else 'hold'} {held} of {total} {unit}: "
        f"cancel {'it' if one else 'one'}, or {wait}."
    )
