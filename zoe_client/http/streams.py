"""Streams of server-sent events that resume after a break."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Generator, Mapping

import httpx

from zoe_client.errors import TimedOut, Unreachable, ZoeError
from zoe_client.http.flow import AsyncFlow, BlockingFlow, answer_to, close, next_of
from zoe_client.http.sse import EventLines, ServerEvent

_PAUSE_S_MIN = 0.05
_PAUSE_S_MAX = 0.5
_CONNECT_S_MAX = 10.0
# The server sends something every 15 s; without three of these, the connection is dead.
_SILENCE_S_MAX = 45.0
_SHORTEST_WAIT_S = 0.05


class _Resumption:
    """Position of a stream, and the rules for reopening it.

    `patience_s`: how long to try to reach the server after a break; then Unreachable. `deadline_s` is a time of
    `time.monotonic`; TimedOut once it has passed.
    """

    def __init__(self, patience_s: float, deadline_s: float | None) -> None:
        self._patience_s = patience_s
        self._deadline_s = deadline_s
        self._last_id: str | None = None
        self._broken_since_s: float | None = None
        self._pause_s = _PAUSE_S_MIN
        self._silence_s = _SILENCE_S_MAX

    def headers(self) -> dict[str, str]:
        """Return the headers that request the events after the last one."""
        return {} if self._last_id is None else {"Last-Event-ID": self._last_id}

    def timeout(self) -> httpx.Timeout:
        """Return the time-outs for connecting and for silence."""
        self._silence_s = min(self._left_s(), _SILENCE_S_MAX)
        return httpx.Timeout(min(self._left_s(), _CONNECT_S_MAX), read=self._silence_s)

    def note(self, event: ServerEvent | None) -> None:
        """Record an event or a comment."""
        self._broken_since_s, self._pause_s = None, _PAUSE_S_MIN
        if event is not None:
            self._last_id = event.id or self._last_id

    def must_reopen(self) -> bool:
        """Return whether to reopen the stream with a shorter time-out, so that silence cannot exceed the deadline;
        TimedOut.
        """
        self.check_deadline()
        return self._left_s() < self._silence_s / 2

    def pause_s(self, error: Unreachable) -> float:
        """Return how long to pause after a break, or raise the error if the break has lasted too long."""
        self.check_deadline()
        now_s = time.monotonic()
        self._broken_since_s = self._broken_since_s or now_s
        if now_s - self._broken_since_s > self._patience_s:
            raise error
        pause_s = min(self._pause_s, self._left_s())
        self._pause_s = min(2 * self._pause_s, _PAUSE_S_MAX)
        return pause_s

    def check_deadline(self) -> None:
        """Raise TimedOut after the deadline."""
        if self._deadline_s is not None and time.monotonic() > self._deadline_s:
            raise TimedOut("it took longer than the time allowed")

    def _left_s(self) -> float:
        if self._deadline_s is None:
            return _SILENCE_S_MAX
        return max(self._deadline_s - time.monotonic(), _SHORTEST_WAIT_S)


class ResumedStream:
    """Every event up to the server's `end`, each once, even if the server restarts. `flow.each(stream.more)` yields
    them."""

    def __init__(
        self,
        flow: BlockingFlow | AsyncFlow,
        path: str,
        parameters: Mapping[str, str | int],
        patience_s: float,
        deadline_s: float | None = None,
    ) -> None:
        self._flow = flow
        self._path = path
        self._parameters = dict(parameters)
        self._resumption = _Resumption(patience_s, deadline_s)
        self._lines: Generator[str, None, None] | AsyncGenerator[str, None] | None = None
        self._unfinished = EventLines()

    async def more(self) -> list[ServerEvent] | None:
        """Return the next event, or nothing after a break; None after the last. `end` itself is left out."""
        its = self._resumption
        try:
            event = await self._next_event()
        except ZoeError as error:
            await self._close()
            if not isinstance(error, Unreachable):
                raise
            await answer_to(self._flow.pause(its.pause_s(error)))
            its.check_deadline()
            return []
        if event is not None and event.kind == "end":
            await self._close()
            return None
        return [] if event is None else [event]

    async def _next_event(self) -> ServerEvent | None:
        """Return the next event, None for a comment; Unreachable if the stream breaks, TimedOut."""
        its = self._resumption
        if self._lines is not None and its.must_reopen():
            await self._close()
        if self._lines is None:
            how = {"params": self._parameters, "headers": its.headers(), "timeout": its.timeout()}
            self._lines, self._unfinished = self._flow.lines(self._path, how), EventLines()
        while (line := await next_of(self._lines)) is not None:
            for event in self._unfinished.feed(line):
                its.note(event)
                return event
        raise Unreachable("the stream ended early")

    async def _close(self) -> None:
        lines, self._lines = self._lines, None
        if lines is not None:
            await close(lines)
