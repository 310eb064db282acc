"""When the whole machine stood still, or its clock was set: both fail tests that are right.

A virtual machine may be paused: then nothing runs for minutes, or the clock goes on by minutes at once. A failed test
cannot show that, so the runner looks once a second and says at its end what it saw.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType

LOOK_S = 1.0
LEAST_S = 5.0
"""What is shorter happens to a machine that is only busy."""
FOUND_MAX = 100


class Standstills:
    """Looks in a thread of its own until it is closed. `found`: a sentence for each."""

    def __init__(self, clock: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.found: list[str] = []
        self._clock, self._monotonic = clock, monotonic
        self._before = clock(), monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="standstills", daemon=True)

    def __enter__(self) -> Standstills:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()
        self.look()

    def _run(self) -> None:
        while not self._ended.wait(LOOK_S):
            self.look()

    def look(self) -> None:
        """Compare both clocks with those of the last look."""
        clock_s, monotonic_s = self._clock(), self._monotonic()
        late_s = monotonic_s - self._before[1] - LOOK_S
        jumped_s = clock_s - self._before[0] - (monotonic_s - self._before[1])
        self._before = clock_s, monotonic_s
        at = time.strftime("%H:%M:%S", time.localtime(clock_s))
        if late_s >= LEAST_S:
            self._say(f"nothing ran for {late_s:.0f} s before {at}")
        if abs(jumped_s) >= LEAST_S:
            self._say(f"the clock went {'on' if jumped_s > 0 else 'back'} by {abs(jumped_s):.0f} s at {at}")

    def _say(self, sentence: str) -> None:
        if len(self.found) < FOUND_MAX:
            self.found.append(sentence)
