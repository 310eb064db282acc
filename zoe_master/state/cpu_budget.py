"""Limits on the CPU time of the threads beside the loop, which rest in proportion to their work."""

from __future__ import annotations

import time
from collections.abc import Callable

from zoe_master.scheduler.placement.budget import GiveUp

# For a forecast, and for decisions made together.
FORECAST_S = 0.8
PROMISES_S = 3.0


class CpuBudget:
    """Counts the CPU time of the calling thread from now on."""

    def __init__(self, cpu_s: Callable[[], float] = time.thread_time) -> None:
        self._cpu_s = cpu_s
        self._began_s = cpu_s()

    def spent_after(self, seconds: float) -> GiveUp:
        """Return a function that returns whether this many seconds are used up."""
        return lambda _=1, /: self._cpu_s() >= self._began_s + seconds
