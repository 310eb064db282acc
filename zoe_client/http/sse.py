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


class EventLines:
    """Collect the lines of a stream into events."""

    def __init__(self) -> None:
        self._fields: dict[str, str] = {}

    def feed(self, line: str) -> Iterator[ServerEvent | None]:
        """Yield the event that this line completes; None for a comment (a keep-alive)."""
        if not line:
            fields, self._fields = self._fields, {}
            if "data" in fields:
                yield ServerEvent(fields.get("id", ""), fields.get("event", "message"), fields["data"])
        elif line.startswith(":"):
            yield None
        else:
            name, _, value = line.partition(":")
            self._fields[name] = value.removeprefix(" ")


def parse_events(lines: Iterable[str]) -> Iterator[ServerEvent | None]:
    """Yield the events in a stream of lines, and None for each comment (a keep-alive); drop an unfinished event."""
    found = EventLines()
    for line in lines:
        yield from found.feed(line)
