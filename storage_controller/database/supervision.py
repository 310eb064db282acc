"""Supervision of the controllers of an object store: an admin sets the mode of each loop, and a crashed loop restarts
after an increasing delay. The state has the last action of each.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from zoe_lib.clock import SYSTEM_CLOCK, Clock

_log = logging.getLogger(__name__)
BACK_OFF_S, BACK_OFF_S_MAX = 1.0, 60.0
_SENTENCE_MAX = 300


class Mode(StrEnum):
    """Mode of a controller, set by an admin. DRY: it decides, and pushes nothing."""

    ON = "on"
    DRY = "dry"
    OFF = "off"


Active = Callable[[], Mapping[str, bool]]
"""Whether the condition of each rule with metrics holds, by its controller."""


class Failure(Exception):  # noqa: N818 - an answer, not a defect
    """A controller could not work; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class ControllerState:
    """State of a controller. Times are since the epoch. last: its last action, or the action that a dry run would have
    taken.

    waits_s: seconds until it restarts; 0 while it runs. failures: since this program started; failing: in a row.
    """

    name: str
    last: str = ""
    last_s: float | None = None
    runs: int = 0
    failures: int = 0
    failing: int = 0
    problem: str = ""
    waits_s: float = 0.0


class Supervisor:
    """States of all controllers. Thread-safe."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._loops: dict[str, _Loop] = {}

    def ready(self, name: str) -> bool:
        """Return whether a controller may run, and does not wait after a crash."""
        with self._lock:
            return self._loop(name).until_s <= self._clock.monotonic_s()

    @contextmanager
    def run(self, name: str) -> Iterator[None]:
        """Run a controller once; record an error within it, and delay the next run."""
        try:
            yield
        except Exception as error:
            expected = isinstance(error, Failure)
            sentence = str(error) if expected else f"it crashed: {error!r}"
            (_log.warning if expected else _log.exception)("the controller %s: %s", name, sentence[:_SENTENCE_MAX])
            with self._lock:
                self._loop(name).fail(sentence[:_SENTENCE_MAX], self._clock.monotonic_s())
        else:
            with self._lock:
                self._loop(name).record_success()

    def record_action(self, name: str, what: str) -> None:
        """Record the last action of a controller, or what a dry run would have done."""
        with self._lock:
            loop = self._loop(name)
            loop.last, loop.last_s = what[:_SENTENCE_MAX], self._clock.now_s()

    def states(self) -> list[ControllerState]:
        """Return the state of each controller."""
        with self._lock:
            now_s = self._clock.monotonic_s()
            return [loop.state(name, now_s) for name, loop in sorted(self._loops.items())]

    def keep_only(self, prefix: str, names: Collection[str]) -> None:
        """Remove the states of a kind of controllers except these."""
        with self._lock:
            for name in [loop for loop in self._loops if loop.startswith(prefix) and loop not in names]:
                del self._loops[name]

    def _loop(self, name: str) -> _Loop:
        return self._loops.setdefault(name, _Loop())


@dataclass(slots=True)
class _Loop:
    last: str = ""
    last_s: float | None = None
    runs: int = 0
    failures: int = 0
    failing: int = 0
    problem: str = ""
    until_s: float = 0.0

    def fail(self, sentence: str, now_s: float) -> None:
        self.until_s = now_s + min(BACK_OFF_S * 2**self.failing, BACK_OFF_S_MAX)
        self.failures, self.failing, self.problem = self.failures + 1, min(self.failing + 1, 16), sentence

    def record_success(self) -> None:
        self.runs, self.failing, self.problem, self.until_s = self.runs + 1, 0, "", 0.0

    def state(self, name: str, now_s: float) -> ControllerState:
        waits_s = max(self.until_s - now_s, 0.0)
        return ControllerState(
            name, self.last, self.last_s, self.runs, self.failures, self.failing, self.problem, waits_s
        )
