"""Reading server-sent events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event of a stream."""

    id: str
    kind: str
    data: str


def parse_events(lines: Iterable[str]) -> Iterator[ServerEvent]:
    """The events in a stream of lines; comments are passed over, an unfinished event is dropped."""
    fields: dict[str, str] = {}
    for line in lines:
        if not line:
            if "data" in fields:
                yield ServerEvent(fields.get("id", ""), fields.get("event", "message"), fields["data"])
            fields = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
