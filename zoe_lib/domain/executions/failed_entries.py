"""Name the failed entries of a list in a message."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from zoe_client.vocabulary import IndexState
from zoe_lib.domain.applications.entries import Entry
from zoe_lib.domain.executions.arrays import CODES

NAMED_MAX = 5
"""Maximum entries in a message, which is one cell of a table."""
_TEXT_MAX = 40


def failed_positions(states: bytes) -> Sequence[int]:
    """Return the positions of failed indices, in order."""
    failed = CODES[IndexState.FAILED]
    return [position for position, code in enumerate(states) if code == failed]


def with_failed_entries(message: str, positions: Sequence[int], entries: Mapping[int, Entry]) -> str:
    """Return the message with the failed entries, the first `NAMED_MAX` by number and text, which `entries`
    contains.
    """
    if not positions:
        return message
    named = [f"{position}{_entry_text(entries, position)}" for position in positions[:NAMED_MAX]]
    if (left := len(positions) - NAMED_MAX) > 0:
        named.append(f"{left} more")
    noun = "entry" if len(positions) == 1 else "entries"
    listed = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    return "; ".join(filter(None, (message, f"{noun} {listed} failed")))


def _entry_text(entries: Mapping[int, Entry], position: int) -> str:
    """Return an entry as JSON in brackets, shortened; empty if it is unknown."""
    if position not in entries:
        return ""
    text = json.dumps(entries[position], ensure_ascii=False)
    return f" ({text if len(text) <= _TEXT_MAX else text[:_TEXT_MAX] + '...'})"
