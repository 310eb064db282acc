"""Requests to the managers of a swarm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_master.backends.engine.daemon.engines import Engine
from zoe_master.backends.engine.errors import UNREACHABLE, cannot_serve

_SILENT_S = 3.0
"""Longer than managers need to elect another leader."""
_STUCK_S = 30.0
_Answer = TypeVar("_Answer")


class _Silence:
    """Since when a kind of requests has gone unanswered."""

    def __init__(self) -> None:
        self.since_s: float | None = None
        self.until_s = 0.0

    def note(self, begun_s: float, ended_s: float, answered: bool) -> None:
        """Record a request with its begin and end."""
        self.until_s = ended_s
        if answered:
            self.since_s = None
        elif self.since_s is None:
            self.since_s = begun_s

    def longer_than(self, seconds: float, now_s: float) -> bool:
        """Return whether it has lasted longer than that."""
        return self.since_s is not None and now_s > self.since_s + seconds


class Managers:
    """The managers of the swarm: requests go to one until it stops answering.

    Reads and changes are two kinds of requests: a manager may answer reads from memory while it can change nothing.
    """

    def __init__(self, engines: Sequence[Engine], clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._engines = engines
        self._current = 0
        self._reads, self._changes = _Silence(), _Silence()

    @property
    def silent(self) -> bool:
        """Return whether reads have gone unanswered for longer than a single one may take."""
        return self._reads.longer_than(_SILENT_S, self._clock.monotonic_s())

    @property
    def stuck(self) -> bool:
        """Return whether changes have gone unanswered for that long; a while after the last attempt, another may show
        that they can be made again.
        """
        now_s = self._clock.monotonic_s()
        return self._changes.longer_than(_SILENT_S, now_s) and now_s < self._changes.until_s + _STUCK_S

    def ask(self, question: Callable[[Any], _Answer]) -> _Answer:
        """Return the first answer; raise the last error if none answers. Refusals of the request itself are raised at
        once.
        """
        return self._request(question, self._reads)

    def change(self, request: Callable[[Any], _Answer]) -> _Answer:
        """Make a change, and return its answer like `ask`."""
        return self._request(request, self._changes)

    def _request(self, request: Callable[[Any], _Answer], silence: _Silence) -> _Answer:
        begun_s = self._clock.monotonic_s()
        for attempt in range(len(self._engines)):
            try:
                answer = request(self._engines[self._current].api)
                silence.note(begun_s, self._clock.monotonic_s(), answered=True)
                return answer
            except UNREACHABLE as error:
                silence.note(begun_s, self._clock.monotonic_s(), answered=not cannot_serve(error))
                last = attempt == len(self._engines) - 1
                if last or not cannot_serve(error):
                    raise
                self._current = (self._current + 1) % len(self._engines)
        raise AssertionError("there is always a manager")

    def close(self) -> None:
        """Close all connections."""
        for engine in self._engines:
            engine.close()
