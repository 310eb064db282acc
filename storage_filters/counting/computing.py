"""CPU time of filters and views for a request: measured piece by piece, booked, and paced.

The clock is the thread's (CLOCK_THREAD_CPUTIME_ID), which includes compiled code and WebAssembly. It stops while a
filter asks for bytes, when other requests of the process run. After each slice of computing, other requests get their
turn, and a tenant with a bound continues once its booked time has passed. So the process is never busy for longer than
a filter needs for one piece.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

SLICE_NS = 2_000_000
"""CPU time that a request uses before it is booked and other requests get their turn."""
LOOK_S = 0.25
"""How soon a request that waits under an old bound notices a new one, in seconds."""
T = TypeVar("T")


class Spending(Protocol):
    """Account that pays for CPU time."""

    def book(self, cpu_ns: int, waited_ns: int) -> None:
        """Book CPU time, and how long the request waited for it."""
        ...

    def left_s(self) -> float:
        """Return the seconds until the booked time has passed; 0 for now, and without a bound."""
        ...

    def cores(self) -> float:
        """Return the bound of the account; 0 for none."""
        ...


class Computing:
    """CPU time of one request. Without an account nothing is measured. pause: lets other requests run for at least so
    many seconds.
    """

    def __init__(
        self,
        spending: Spending | None,
        pause: Callable[[float], Any],
        cpu_ns: Callable[[], int] = time.thread_time_ns,
    ) -> None:
        self._spending = spending
        self._pause = pause
        self._cpu_ns = cpu_ns
        self._since_ns: int | None = None
        self._open_ns = self._waited_ns = 0

    def pieces(
        self, make: Callable[[Iterator[bytes]], Iterable[bytes]], source: Iterable[bytes] = ()
    ) -> Iterator[bytes]:
        """Yield the output of `make` for a source. Reading the source does not count as computing."""
        if self._spending is None:
            yield from make(iter(source))
            return
        made, booked = iter(make(self._unmeasured_chunks(source))), True
        while True:
            if booked:  # otherwise it has computed little since it waited
                self.wait()
            piece = self.run(lambda: next(made, None))
            booked = self._settle()
            if piece is None:
                return
            yield piece

    def run(self, work: Callable[[], T]) -> T:
        """Return the result of the work, which must not yield to other requests."""
        self._start()
        try:
            return work()
        finally:
            self._stop()

    def yield_turn(self) -> None:
        """Let other requests run in the middle of a piece."""
        running = self._since_ns is not None
        self._stop()
        if self._open_ns >= SLICE_NS:
            self.close()
        self._pause(0)
        self.wait()
        if running:
            self._start()

    def add(self, cpu_ns: int) -> None:
        """Add CPU time that another process used for the request."""
        if self._spending is not None:
            self._open_ns += cpu_ns
            self._settle()

    def close(self) -> None:
        """Book the remaining CPU time."""
        if self._spending is not None and self._open_ns + self._waited_ns:
            spent, self._open_ns, self._waited_ns = (self._open_ns, self._waited_ns), 0, 0
            self._spending.book(*spent)

    def expected_wait_s(self, cpu_s: float) -> float:
        """Return how long the request would wait for its account if it takes so much CPU time; 0 without a bound."""
        if self._spending is None:
            return 0.0
        cores = self._spending.cores()
        return self._spending.left_s() + (cpu_s / cores - cpu_s if 0 < cores < 1 else 0.0)

    def wait(self) -> None:
        """Wait until the booked time of the account has passed. Of several waiting requests, the first that looks
        continues, and the others wait for the time that it books.
        """
        if self._spending is None:
            return
        while (left_s := self._spending.left_s()) > 0:
            began_ns = time.monotonic_ns()
            self._pause(min(left_s, LOOK_S))
            self._waited_ns += time.monotonic_ns() - began_ns

    def _unmeasured_chunks(self, source: Iterable[bytes]) -> Iterator[bytes]:
        chunks = iter(source)
        while True:
            self._stop()
            try:
                chunk = next(chunks, None)
                if chunk is not None:
                    self.wait()  # other requests of the account may have computed meanwhile
            finally:
                self._start()
            if chunk is None:
                return
            yield chunk

    def _start(self) -> None:
        if self._spending is not None:
            self._since_ns = self._cpu_ns()

    def _stop(self) -> None:
        if self._since_ns is not None:
            self._open_ns += self._cpu_ns() - self._since_ns
            self._since_ns = None

    def _settle(self) -> bool:
        """Book a slice and let other requests run; return whether there was a slice."""
        if self._open_ns < SLICE_NS:
            return False
        self.close()
        self._pause(0)
        return True
