"""Convert frozen dataclasses to JSON values and back, by their type hints alone; msgspec does the work."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from zoe_lib.domain.executions.events import EVENT_TYPES, Event

T = TypeVar("T")
# While msgspec examines a type, other threads can find its unfinished data, which crashes the process.
_examined: set[Any] = set()
_examining = threading.Lock()
# Fields of events that are nearly always empty: the journal leaves them out then.
_SELDOM = ("conditions", "memory_bytes", "memory_before", "bandwidth_before")
Json = Any  # None, bool, int, float, str, list or tuple of Json, dict of str to Json


def encode(value: object) -> Json:
    """Return the JSON value of a dataclass, enum, mapping, tuple, set or plain value; sets are sorted. TypeError."""
    return msgspec.to_builtins(value, order="deterministic", str_keys=True, enc_hook=_plain)


def event_data(event: Event) -> dict[str, Json]:
    """Return the JSON form of an event for the journal, without the fields that have their own columns."""
    data: dict[str, Json] = encode(event)
    del data["at_s"], data["cause_id"]
    for name in _SELDOM:
        if not data.get(name, True):
            del data[name]
    return data


def event_of(kind: str, at_s: float, cause_id: str, data: Mapping[str, Json]) -> Event:
    """Return the event of a journal entry; KeyError for facts about the installation."""
    return decode(EVENT_TYPES[kind], {**data, "at_s": at_s, "cause_id": cause_id})


def decode(wanted: type[T], data: Json) -> T:
    """Return the value of that type. Unknown keys are ignored and missing ones take the default, as different versions
    need.

    Raises msgspec.ValidationError for anything that does not fit.
    """
    if wanted not in _examined:
        with _examining:
            msgspec.json.Decoder(wanted)
            _examined.add(wanted)
    return msgspec.convert(data, wanted, strict=False, str_keys=True)


def field_names(wanted: Any) -> tuple[str, ...]:
    """Return the names of a dataclass's fields."""
    return tuple(wanted.__dataclass_fields__)


def _plain(value: object) -> Json:
    if isinstance(value, Mapping):  # an immutable one
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
