"""A clock that stands still until a test advances it. Threads that wait for it wake when their time has come."""

from __future__ import annotations

import threading
from dataclasses import dataclass

PATIENCE_S = 10.0
"""How long a test waits for a thread to reach its wait, before the test fails."""


@dataclass(eq=False)
class _Waiter:
    event: threading.Event
    due_s: float


class ManualClock:
    """A `zoe_lib.clock.Clock`. now_s: the time of day at the beginning; `monotonic_s` begins at the same number."""

    def __init__(self, now_s: float = 1_000.0) -> None:
        self._now_s = self._monotonic_s = now_s
        self._changed = threading.Condition()
        self._waiters: list[_Waiter] = []

    def now_s(self) -> float:
        with self._changed:
            return self._now_s

    def monotonic_s(self) -> float:
        with self._changed:
            return self._monotonic_s

    def sleep(self, seconds: float) -> None:
        self.wait(threading.Event(), seconds)

    def wait(self, event: threading.Event, timeout_s: float) -> bool:
        # The condition of the event itself: setting the event wakes the waiter, and so does `advance`.
        inner: threading.Condition = event._cond  # type: ignore[attr-defined]
        with self._changed:
            waiter = _Waiter(event, self._monotonic_s + timeout_s)
            self._waiters.append(waiter)
            self._changed.notify_all()
        try:
            with inner:
                while not event._flag and self.monotonic_s() < waiter.due_s:  # type: ignore[attr-defined]
                    inner.wait()
        finally:
            with self._changed:
                self._waiters.remove(waiter)
                self._changed.notify_all()
        return event.is_set()

    def advance(self, seconds: float) -> None:
        """Let time pass, for both clocks, and wake due waiters; return when they woke."""
        with self._changed:
            self._now_s += seconds
            self._monotonic_s += seconds
        self._wake()

    def step(self, seconds: float, waiters: int = 1) -> None:
        """Once this many threads wait: advance, and return when they wait again, after their due work."""
        self.wait_for_waiters(waiters)
        self.advance(seconds)
        self.wait_for_waiters(waiters)

    def set(self, now_s: float) -> None:
        """Advance to this time of day; ValueError if it is over."""
        seconds = now_s - self.now_s()
        if seconds < 0:
            raise ValueError(f"it is {-seconds} s later already; `set_wall` sets the time of day back")
        self.advance(seconds)

    def set_wall(self, now_s: float) -> None:
        """Set the time of day alone, like an admin; no thread wakes."""
        with self._changed:
            self._now_s = now_s

    def wait_for_waiters(self, count: int = 1) -> None:
        """Return once this many threads wait for this clock; AssertionError after ten seconds."""
        with self._changed:
            found = self._changed.wait_for(lambda: len(self._waiters) >= count, PATIENCE_S)
            assert found, f"{len(self._waiters)} threads wait for the clock instead of {count}"

    def _wake(self) -> None:
        with self._changed:
            due = [waiter for waiter in self._waiters if waiter.due_s <= self._monotonic_s]
        for waiter in due:
            with waiter.event._cond:  # type: ignore[attr-defined]
                waiter.event._cond.notify_all()  # type: ignore[attr-defined]
        with self._changed:
            woke = self._changed.wait_for(lambda: not any(waiter in self._waiters for waiter in due), PATIENCE_S)
            assert woke, "a thread whose time has come did not wake"
