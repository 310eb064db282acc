"""Check and clean texts for the database. Containers print anything, and their last output becomes a part of events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import attrgetter
from typing import Any

from zoe_lib.domain.executions.arrays import Array
from zoe_lib.domain.executions.events import EVENT_TYPES, Event
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.store.documents.codec import field_names
from zoe_lib.store.errors import NotFound, Unstorable
from zoe_lib.store.values import ExecutionChange

_READERS: Mapping[type[Event], Callable[[Event], tuple[object, ...]]] = {
    kind: attrgetter(*field_names(kind)) for kind in EVENT_TYPES.values()
}
"""Readers of all fields of an event at once; each event has several."""


def storable(*texts: str | None) -> bool:
    """Return whether PostgreSQL can hold these texts: no NUL character and no half of a surrogate pair."""
    return all(text is None or _is_storable(text) for text in texts)


def check_names(*names: str) -> None:
    """Raise NotFound for names that PostgreSQL cannot hold: no object has such a name."""
    if not storable(*names):
        raise NotFound(f"not found: {', '.join(map(ascii, names))}")


def clean_event(event: Event) -> Event:
    """Return the event with such characters replaced, so that an odd log line never prevents the write of an end."""
    broken: dict[str, Any] = {
        name: value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
        for name in field_names(type(event))
        if type(value := getattr(event, name)) is str and not _is_storable(value)
    }
    return replace(event, **broken) if broken else event


def clean_events(events: Sequence[Event]) -> Sequence[Event]:
    """Return the cleaned events, the same objects if they were clean; ValueError if there are none."""
    if not events:
        raise ValueError("nothing to append")
    return events if all(map(_is_clean, events)) else [clean_event(event) for event in events]


def _is_clean(event: Event) -> bool:
    """Return whether the event has no such characters, which is nearly always so."""
    for value in _READERS[type(event)](event):
        if type(value) is str and not (value.isascii() and "\x00" not in value) and not _is_storable(value):
            return False
    return True


def _checked_change(change: ExecutionChange) -> ExecutionChange:
    """Return the change with clean events and their resulting state."""
    clean = clean_events(change.events)
    return (
        change if clean is change.events else ExecutionChange(change.before, clean, reduce(apply, clean, change.before))
    )


def checked_changes(changes: Sequence[ExecutionChange]) -> Sequence[ExecutionChange]:
    """Return the changes with clean events; ValueError for two of one execution, since each expects to be the next."""
    if len({change.before.id for change in changes}) != len(changes):
        raise ValueError("a set changes each execution once")
    return [_checked_change(change) for change in changes]


def check_array(array: Array, cause_id: str, idempotency_key: str | None, fingerprint: str) -> None:
    """Refuse texts that cannot be stored (Unstorable)."""
    texts = (array.id, array.name, array.tenant, array.user, *array.notes)
    if not storable(*texts, cause_id, idempotency_key, fingerprint):
        raise Unstorable("the array contains text that cannot be stored")


def check_submission(execution: Execution, cause_id: str, idempotency_key: str | None, fingerprint: str) -> None:
    """Refuse an execution that is not fresh (ValueError) or cannot be stored (Unstorable)."""
    if execution.version != 0 or execution.services:
        raise ValueError(f"execution {execution.id!r} is not fresh: version {execution.version}")
    texts = (execution.id, execution.name, execution.tenant, execution.user, *execution.notes)
    if not storable(*texts, cause_id, idempotency_key, fingerprint):
        raise Unstorable("the execution contains text that cannot be stored")


def _is_storable(text: str) -> bool:
    if text.isascii():
        return "\x00" not in text
    try:
        return "\x00" not in text and bool(text.encode())
    except UnicodeEncodeError:
        return False


def key_in_batch(key: str | None, index: int) -> str | None:
    """Return the key of one execution of a batch; no request can have it, since header values hold no line break."""
    return None if key is None else f"{key}\n{index}"


def shown_key(key: str) -> str:
    """Return the key as its client sent it."""
    return key.partition("\n")[0]
