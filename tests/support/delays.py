"""Injected delays, as a busy machine or a slow disk causes them: ticks that begin late, transactions that take longer.

`ZOE_TEST_DELAYS=SEED` switches them on for the process of the tests and for the programs that it forks. The product
does not know them.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

VARIABLE = "ZOE_TEST_DELAYS"
TICK_SHARE, TICK_S = 0.1, 0.5
WRITE_SHARE, WRITE_S = 0.03, 0.25


class Delays:
    """Draws which calls are late. Thread-safe."""

    def __init__(self, seed: str, sleep: Callable[[float], None] = time.sleep) -> None:
        self._drawn = random.Random(seed)
        self._lock = threading.Lock()
        self._sleep = sleep

    def late(self, share: float, seconds: float) -> tuple[float, float]:
        """Return the pauses before and after a call: one of both, for a share of the calls."""
        with self._lock:
            is_late, before = self._drawn.random() < share, self._drawn.random() < 0.5
        return (seconds if is_late and before else 0.0), (seconds if is_late and not before else 0.0)

    def delayed(
        self, work: Callable[..., Any], share: float, seconds: float, on: Callable[[Any], bool] = lambda _: True
    ) -> Callable[..., Any]:
        """Return the function with a share of calls that begin late or return late. on: the first arguments that it
        applies to.
        """

        @wraps(work)
        def delayed(*args: Any, **more: Any) -> Any:
            if not on(args[0]):
                return work(*args, **more)
            before_s, after_s = self.late(share, seconds)
            if before_s:
                self._sleep(before_s)
            result = work(*args, **more)
            if after_s:
                self._sleep(after_s)
            return result

        return delayed


def seed() -> str | None:
    """Return the seed of this run; None without delays."""
    return os.environ.get(VARIABLE) or None


def install(seed: str) -> None:
    """Delay ticks and transactions of this process from now on. Ticks in simulated time are not delayed."""
    from zoe_lib.clock import SYSTEM_CLOCK
    from zoe_lib.store.sql.connection.database import Database
    from zoe_master.loop.master import Master

    delays = Delays(seed)
    Master.tick = delays.delayed(Master.tick, TICK_SHARE, TICK_S, lambda master: master._clock is SYSTEM_CLOCK)  # type: ignore[method-assign]
    for name in ("write", "write_repeatable"):
        setattr(Database, name, delays.delayed(getattr(Database, name), WRITE_SHARE, WRITE_S))
