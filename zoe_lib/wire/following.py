"""What happens: events, output, addresses."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from zoe_lib.domain.waiting import WaitCause
from zoe_lib.wire.base import Wire


class WaitSpan(Wire):
    """A stretch of waiting under one cause; `sentence` is what was said of it then."""

    cause: WaitCause
    since_s: float
    until_s: float
    sentence: str


class WaitShare(Wire):
    """What one cause comes to; the percents of all causes are 100 together."""

    cause: WaitCause
    seconds: float
    percent: int


class WhyWaited(Wire):
    """Where the time before the start went: every second of waiting has a cause. From the journal alone."""

    waited_s: float
    causes: list[WaitShare]
    spans: list[WaitSpan]


class EventView(Wire):
    """A fact from the journal. Ids only grow; whoever reads on from one misses nothing."""

    id: int
    kind: str
    at_s: float
    cause_id: str
    execution_id: str | None
    version: int | None
    data: dict[str, Any]


class EventList(Wire):
    """Facts in order."""

    events: list[EventView]


class LogChunkView(Wire):
    """A piece of a service's output; `data` is base64. Ask again from `next_offset` until `complete`.

    `dropped_bytes`: how many before `offset` are no longer kept; with `dropped_at_least` it may be more.
    """

    data: str
    offset: int
    next_offset: int
    complete: bool
    dropped_bytes: int = 0
    dropped_at_least: bool = False


class OpenView(Wire):
    """Where a browser gets into an application, once and within a minute. Whoever has it may go in."""

    url: str


class AddressView(Wire):
    """Where a port of a service answers. Of a proxied port it is the address in Zoe's proxy, with a `url` for browsers;
    of others, and of all ports for operators who ask for it (`direct`), the one that the master's machine sees.

    Every request to the latter must bear the `headers`, if there are any. They are secret: whoever has them may use the
    port.
    """

    host: str
    port: int
    url: str | None = None
    headers: dict[str, str] = Field(default={})
