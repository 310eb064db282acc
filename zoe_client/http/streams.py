"""Streams of server-sent events that resume after a break."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping

import httpx

from zoe_client.errors import TimedOut, Unreachable
from zoe_client.http.problems import problem_of, unreachable
from zoe_client.http.sse import EventLines, ServerEvent, parse_events

_PAUSE_S_MIN = 0.05
_PAUSE_S_MAX = 0.5
_CONNECT_S_MAX = 10.0
# The server sends something every 15 s; without three of these, the connection is dead.
_SILENCE_S_MAX = 45.0
_SHORTEST_WAIT_S = 0.05


class _Resumption:
    """How far a stream has come, and when it is opened again.

    `patience_s` is for how long it tries to reach the server after a break; then Unreachable. `deadline_s` is a time of
    `time.monotonic`; TimedOut when it passes first."""

    def __init__(self, patience_s: float, deadline_s: float | None) -> None:
        self._patience_s = patience_s
        self._deadline_s = deadline_s
        self._last_id: str | None = None
        self._broken_since_s: float | None = None
        self._pause_s = _PAUSE_S_MIN
        self._silence_s = _SILENCE_S_MAX

    def headers(self) -> dict[str, str]:
        """Return the headers that ask for what comes next."""
        return {} if self._last_id is None else {"Last-Event-ID": self._last_id}

    def timeout(self) -> httpx.Timeout:
        """Return how long to wait for a connection and for what comes on it."""
        self._silence_s = min(self._left_s(), _SILENCE_S_MAX)
        return httpx.Timeout(min(self._left_s(), _CONNECT_S_MAX), read=self._silence_s)

    def note(self, event: ServerEvent | None) -> None:
        """Note what came."""
        self._broken_since_s, self._pause_s = None, _PAUSE_S_MIN
        if event is not None:
            self._last_id = event.id or self._last_id

    def must_reopen(self) -> bool:
        """Return whether to open it with a shorter time-out, so that silence cannot exceed the deadline; TimedOut."""
        self.check_deadline()
        return self._left_s() < self._silence_s / 2

    def pause_s(self, error: Unreachable) -> float:
        """Return how long to pause after a break, or raise the error if it has lasted too long."""
        self.check_deadline()
        now_s = time.monotonic()
        self._broken_since_s = self._broken_since_s or now_s
        if now_s - self._broken_since_s > self._patience_s:
            raise error
        pause_s = min(self._pause_s, self._left_s())
        self._pause_s = min(2 * self._pause_s, _PAUSE_S_MAX)
        return pause_s

    def check_deadline(self) -> None:
        """TimedOut after the deadline."""
        if self._deadline_s is not None and time.monotonic() > self._deadline_s:
            raise TimedOut("it took longer than the time allowed")

    def _left_s(self) -> float:
        if self._deadline_s is None:
            return _SILENCE_S_MAX
        return max(self._deadline_s - time.monotonic(), _SHORTEST_WAIT_S)


class ResumedStream:
    """Every event up to the server's `end`, each once, even if the server restarts."""

    def __init__(
        self,
        http: httpx.Client,
        path: str,
        parameters: Mapping[str, str | int],
        patience_s: float,
        deadline_s: float | None = None,
    ) -> None:
        self._http = http
        self._path = path
        self._parameters = dict(parameters)
        self._resumption = _Resumption(patience_s, deadline_s)

    def __iter__(self) -> Iterator[ServerEvent]:
        """Yield the events, without `end` itself."""
        while True:
            try:
                for event in self._open():
                    if event.kind == "end":
                        return
                    yield event
            except Unreachable as error:
                time.sleep(self._resumption.pause_s(error))
            self._resumption.check_deadline()

    def _open(self) -> Iterator[ServerEvent]:
        """Yield the events until the stream breaks (Unreachable), or must be reopened for the deadline."""
        its = self._resumption
        how = {"params": self._parameters, "headers": its.headers(), "timeout": its.timeout()}
        try:
            with self._http.stream("GET", self._path, **how) as response:  # type: ignore[arg-type]
                if response.is_error:
                    response.read()
                    raise problem_of(response)
                for event in parse_events(response.iter_lines()):
                    its.note(event)
                    if event is not None:
                        yield event
                    if its.must_reopen():
                        return
        except httpx.TransportError as error:
            raise unreachable(self._http, error) from None
        raise Unreachable("the stream ended early")


class AsyncResumedStream:
    """The same with `async for`."""

    def __init__(
        self,
        http: httpx.AsyncClient,
        path: str,
        parameters: Mapping[str, str | int],
        patience_s: float,
        deadline_s: float | None = None,
    ) -> None:
        self._http = http
        self._path = path
        self._parameters = dict(parameters)
        self._resumption = _Resumption(patience_s, deadline_s)

    async def __aiter__(self) -> AsyncIterator[ServerEvent]:
        """Yield the events, without `end` itself."""
        while True:
            try:
                async for event in self._open():
                    if event.kind == "end":
                        return
                    yield event
            except Unreachable as error:
                await asyncio.sleep(self._resumption.pause_s(error))
            self._resumption.check_deadline()

    async def _open(self) -> AsyncIterator[ServerEvent]:
        its, lines = self._resumption, EventLines()
        how = {"params": self._parameters, "headers": its.headers(), "timeout": its.timeout()}
        try:
            async with self._http.stream("GET", self._path, **how) as response:  # type: ignore[arg-type]
                if response.is_error:
                    await response.aread()
                    raise problem_of(response)
                async for line in response.aiter_lines():
                    for event in lines.feed(line):
                        its.note(event)
                        if event is not None:
                            yield event
                        if its.must_reopen():
                            return
        except httpx.TransportError as error:
            raise unreachable(self._http, error) from None
        raise Unreachable("the stream ended early")
