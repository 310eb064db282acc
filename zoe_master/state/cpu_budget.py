"""Limits on the CPU time of an answer."""

from __future__ import annotations

import time
from collections.abc import Callable

from zoe_master.scheduler.placement.budget import GiveUp, never

# Each counts from the beginning of the request: until the end of a pass over the queue, of the search for a smaller
# application that would start, and of the forecast.
PASS_S = 1.0
SEARCH_S = 0.5
FORECAST_S = 0.8
# For decisions made together.
PROMISES_S = 3.0


class CpuBudget:
    """Counts the CPU time of the calling thread from now on; `left` returns whether the client has disconnected."""

    def __init__(self, left: GiveUp = never, cpu_s: Callable[[], float] = time.thread_time) -> None:
        self.left = left
        self._cpu_s = cpu_s
        self._began_s = cpu_s()

    def spent_after(self, seconds: float) -> GiveUp:
        """Return a function that returns whether this many seconds are used up or the client has disconnected."""
        return lambda: self._cpu_s() >= self._began_s + seconds or self.left()
