"""The clock of all programs: time of day, intervals, and waiting.

Classes take it as `clock: Clock = SYSTEM_CLOCK`, so that tests can advance a clock of their own instead of waiting.
"""

from __future__ import annotations

import threading
import time
from typing import Final, Protocol


class Clock(Protocol):
    """The time, and the only ways to wait for it. Thread-safe."""

    def now_s(self) -> float:
        """Return the time of day in Unix seconds; it jumps when an admin sets the machine's clock."""

    def monotonic_s(self) -> float:
        """Return seconds that never decrease, from an arbitrary origin; for intervals and time limits."""

    def sleep(self, seconds: float) -> None:
        """Block for a number of seconds."""

    def wait(self, event: threading.Event, timeout_s: float) -> bool:
        """Block until the event is set, for `timeout_s` at most; True when it is set."""


class SystemClock:
    """The clock of this machine."""

    def now_s(self) -> float:
        """Return the time of day in Unix seconds."""
        return time.time()

    def monotonic_s(self) -> float:
        """Return seconds since about the machine's start; they never decrease."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Block for a number of seconds."""
        time.sleep(seconds)

    def wait(self, event: threading.Event, timeout_s: float) -> bool:
        """Block until the event is set, for `timeout_s` at most; True when it is set."""
        return event.wait(timeout_s)


SYSTEM_CLOCK: Final[Clock] = SystemClock()
