"""The frame before a question: its client, and how long the client waits.

A master that does not know it takes it for a part of the return address and still answers; a client that does not know
it sends none. The time is relative, since clocks of two machines differ.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from zoe_lib.clock import SYSTEM_CLOCK, Clock

RECEIVED = b"received"
"""A receipt: the question arrived, and need not be sent again."""
_REMAINING_MS_MAX = 3_600_000


class Header(BaseModel):
    """Header of one question, the same each time it is sent. Fields of later versions are ignored."""

    model_config = ConfigDict(extra="ignore", strict=True)

    question: str = Field(min_length=1, max_length=64)
    remaining_ms: int = Field(ge=0, le=_REMAINING_MS_MAX)
    asker: str = Field(default="", max_length=256)


def read_header(data: bytes) -> Header | None:
    """Return the header in these bytes; None if they are not a valid header."""
    try:
        return Header.model_validate_json(data)
    except (ValidationError, ValueError, RecursionError):
        return None


def write_header(question: str, remaining_s: float, asker: str) -> bytes:
    """Return the bytes of a header."""
    remaining_ms = min(max(round(remaining_s * 1000), 0), _REMAINING_MS_MAX)
    return Header(question=question, remaining_ms=remaining_ms, asker=asker[:256]).model_dump_json().encode()


@dataclass(frozen=True, slots=True)
class Question:
    """A message as it arrived: the return address, its bytes, and its header.

    `key` is empty without a header; `until_s` is by the monotonic clock, infinite without one."""

    route: tuple[bytes, ...]
    payload: bytes
    key: bytes = b""
    asker: str = ""
    until_s: float = float("inf")
    clock: Clock = SYSTEM_CLOCK

    def client_has_left(self) -> bool:
        """Return whether its client has stopped waiting."""
        return self.clock.monotonic_s() >= self.until_s


def question_in(frames: list[bytes], clock: Clock = SYSTEM_CLOCK) -> Question:
    """Return the question in the frames of a ROUTER socket: sender, header if there is one, payload."""
    *route, payload = frames
    header = read_header(route[1]) if len(route) == 2 else None
    if header is None:
        return Question(tuple(route), payload)
    until_s = clock.monotonic_s() + header.remaining_ms / 1000
    return Question((route[0],), payload, header.question.encode(), header.asker, until_s, clock)
