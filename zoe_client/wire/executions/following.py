"""Events, output and addresses of executions."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from zoe_client.vocabulary import WaitCause
from zoe_client.wire.base import Wire

_CONDITION = "Code of the reason if the cause is `conditions`: held, begin_time, dependencies, promise; else null."


class WaitSpan(Wire):
    """A period of waiting with one cause; `sentence` is the reason given at that time."""

    cause: WaitCause
    since_s: float
    until_s: float
    sentence: str
    condition: str | None = Field(default=None, description=_CONDITION)


class WaitShare(Wire):
    """Total time of one cause, or one condition; the percentages of all add up to 100."""

    cause: WaitCause
    seconds: float
    percent: int
    condition: str | None = Field(default=None, description=_CONDITION)


class WhyWaited(Wire):
    """How an execution spent the time before its start, from the journal alone; every second of waiting has a cause."""

    waited_s: float
    causes: list[WaitShare]
    spans: list[WaitSpan]


class EventView(Wire):
    """A fact from the journal. Ids only grow; a client that continues after an id misses nothing."""

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
    """A piece of a service's output; `data` is base64. Request the next from `next_offset` until `complete`.

    `dropped_bytes`: bytes before `offset` that are no longer stored; with `dropped_at_least` it may be more.
    """

    data: str
    offset: int
    next_offset: int
    complete: bool
    dropped_bytes: int = 0
    dropped_at_least: bool = False


class OpenView(Wire):
    """URL at which a browser enters an application, once and within a minute. It admits anyone who has the URL."""

    url: str


class AddressView(Wire):
    """Address of a service's port. For a proxied port it is the address in Zoe's proxy, with a `url` for browsers; for
    other ports, and for operators who request it (`direct`), it is the address that the master's machine sees.

    Every request to the latter must send the `headers`, if there are any. They are secret: anyone who has them can use
    the port.
    """

    host: str
    port: int
    url: str | None = None
    headers: dict[str, str] = Field(default={})
