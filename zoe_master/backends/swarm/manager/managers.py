"""Requests to the managers of a swarm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_master.backends.engine.daemon.engines import Engine
from zoe_master.backends.engine.errors import UNREACHABLE, cannot_serve

_SILENT_S = 3.0
"""Longer than managers need to elect another leader."""
_Answer = TypeVar("_Answer")


class Managers:
    """The managers of the swarm: requests go to one until it stops answering."""

    def __init__(self, engines: Sequence[Engine], clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._engines = engines
        self._current = 0
        self._silent_since_s: float | None = None

    @property
    def silent(self) -> bool:
        """Return whether requests have gone unanswered for longer than a single one may take."""
        since_s = self._silent_since_s
        return since_s is not None and self._clock.monotonic_s() > since_s + _SILENT_S

    def ask(self, question: Callable[[Any], _Answer]) -> _Answer:
        """Return the first answer; raise the last error if none answers. Refusals of the request itself are raised at
        once.
        """
        begun_s = self._clock.monotonic_s()
        for attempt in range(len(self._engines)):
            try:
                answer = question(self._engines[self._current].api)
                self._silent_since_s = None
                return answer
            except UNREACHABLE as error:
                if not cannot_serve(error):
                    self._silent_since_s = None
                elif self._silent_since_s is None:
                    self._silent_since_s = begun_s
                last = attempt == len(self._engines) - 1
                if last or not cannot_serve(error):
                    raise
                self._current = (self._current + 1) % len(self._engines)
        raise AssertionError("there is always a manager")

    def close(self) -> None:
        """Close all connections."""
        for engine in self._engines:
            engine.close()
