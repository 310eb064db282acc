"""Streams of server-sent events that resume after a break."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

import httpx

from zoe_client.errors import TimedOut, Unreachable
from zoe_client.problems import problem_of, unreachable
from zoe_client.sse import ServerEvent, parse_events

_PAUSE_S_MIN = 0.05
_PAUSE_S_MAX = 0.5
_CONNECT_S_MAX = 10.0
# The server sends something every 15 s; without three of these, the connection is dead.
_SILENCE_S_MAX = 45.0
_SHORTEST_WAIT_S = 0.05


class ResumedStream:
    """Every event up to the server's `end`, each once, even if the server restarts.

    `patience_s` is for how long it tries to reach the server after a break; then Unreachable. `deadline_s` is a time of
    `time.monotonic`; TimedOut when it passes first."""

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
        self._patience_s = patience_s
        self._deadline_s = deadline_s
        self._last_id: str | None = None
        self._broken_since_s: float | None = None
        self._pause_s = _PAUSE_S_MIN

    def __iter__(self) -> Iterator[ServerEvent]:
        """Yield the events, without `end` itself."""
        while True:
            try:
                for event in self._open():
                    if event.kind == "end":
                        return
                    yield event
            except Unreachable as error:
                self._pause_or_give_up(error)
            self._check_deadline()

    def _open(self) -> Iterator[ServerEvent]:
        """Yield the events until the stream breaks (Unreachable), or must be reopened for the deadline."""
        headers = {} if self._last_id is None else {"Last-Event-ID": self._last_id}
        silence_s = min(self._left_s(), _SILENCE_S_MAX)
        timeout = httpx.Timeout(min(self._left_s(), _CONNECT_S_MAX), read=silence_s)
        try:
            with self._http.stream(
                "GET", self._path, params=self._parameters, headers=headers, timeout=timeout
            ) as response:
                if response.is_error:
                    response.read()
                    raise problem_of(response)
                for event in parse_events(response.iter_lines()):
                    self._broken_since_s, self._pause_s = None, _PAUSE_S_MIN
                    if event is not None:
                        self._last_id = event.id or self._last_id
                        yield event
                    self._check_deadline()
                    if self._left_s() < silence_s / 2:
                        return  # with a shorter time-out, so that silence cannot exceed the deadline
        except httpx.TransportError as error:
            raise unreachable(self._http, error) from None
        raise Unreachable("the stream ended early")

    def _pause_or_give_up(self, error: Unreachable) -> None:
        self._check_deadline()
        now_s = time.monotonic()
        self._broken_since_s = self._broken_since_s or now_s
        if now_s - self._broken_since_s > self._patience_s:
            raise error
        time.sleep(min(self._pause_s, self._left_s()))
        self._pause_s = min(2 * self._pause_s, _PAUSE_S_MAX)

    def _left_s(self) -> float:
        if self._deadline_s is None:
            return _SILENCE_S_MAX
        return max(self._deadline_s - time.monotonic(), _SHORTEST_WAIT_S)

    def _check_deadline(self) -> None:
        if self._deadline_s is not None and time.monotonic() > self._deadline_s:
            raise TimedOut("it took longer than the time allowed")
