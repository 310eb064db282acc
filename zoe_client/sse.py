"""Read server-sent events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event of a stream."""

    id: str
    kind: str
    data: str


def parse_events(lines: Iterable[str]) -> Iterator[ServerEvent | None]:
    """Yield the events in a stream of lines, and None for each comment (a keep-alive); drop an unfinished event."""
    fields: dict[str, str] = {}
    for line in lines:
        if not line:
            if "data" in fields:
                yield ServerEvent(fields.get("id", ""), fields.get("event", "message"), fields["data"])
            fields = {}
        elif line.startswith(":"):
            yield None
        else:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
