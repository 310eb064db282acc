"""The CPU time that filters and views take for a request: measured piece by piece, booked, and paced.

The clock is that of the thread (CLOCK_THREAD_CPUTIME_ID), which also has what compiled code and WebAssembly take. It
stands still while a filter asks for bytes: other requests of the process run then. After each slice of computing, it is
their turn; and a tenant that has a bound computes on when what it has booked is over. So the process is never busy for
longer than a filter takes for one piece, whoever asks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

SLICE_NS = 2_000_000
"""What a request computes before it is booked, and others get their turn."""
LOOK_S = 0.25
"""How soon a request that waits at an old bound notices a new one."""
T = TypeVar("T")


class Spending(Protocol):
    """On whose account CPU time is booked."""

    def spent(self, cpu_ns: int, waited_ns: int) -> None:
        """Book CPU time, and how long the request waited for it."""
        ...

    def left_s(self) -> float:
        """Return in how many seconds what is booked is over; 0 for now, and without a bound."""
        ...


class Computing:
    """One request's. Without an account nothing is measured. pause: lets others run, for that many seconds at least."""

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
        """Yield what `make` makes of a source. To ask the source is not its computing."""
        if self._spending is None:
            yield from make(iter(source))
            return
        made, booked = iter(make(self._asked(source))), True
        while True:
            if booked:  # if not, it has computed little since it waited
                self.wait()
            piece = self.run(lambda: next(made, None))
            booked = self._settle()
            if piece is None:
                return
            yield piece

    def run(self, work: Callable[[], T]) -> T:
        """Return what the work returns, which must not let others run."""
        self._start()
        try:
            return work()
        finally:
            self._stop()

    def rest(self) -> None:
        """Let others run in the middle of a piece."""
        running = self._since_ns is not None
        self._stop()
        if self._open_ns >= SLICE_NS:
            self.close()
        self._pause(0)
        self.wait()
        if running:
            self._start()

    def add(self, cpu_ns: int) -> None:
        """Add what another process computed for the request."""
        if self._spending is not None:
            self._open_ns += cpu_ns
            self._settle()

    def close(self) -> None:
        """Book the rest."""
        if self._spending is not None and self._open_ns + self._waited_ns:
            spent, self._open_ns, self._waited_ns = (self._open_ns, self._waited_ns), 0, 0
            self._spending.spent(*spent)

    def wait(self) -> None:
        """Wait until what the account has booked is over. Of several that wait, the first one that looks goes on, and
        the others wait for what it books.
        """
        if self._spending is None:
            return
        while (left_s := self._spending.left_s()) > 0:
            began_ns = time.monotonic_ns()
            self._pause(min(left_s, LOOK_S))
            self._waited_ns += time.monotonic_ns() - began_ns

    def _asked(self, source: Iterable[bytes]) -> Iterator[bytes]:
        chunks = iter(source)
        while True:
            self._stop()
            try:
                chunk = next(chunks, None)
                if chunk is not None:
                    self.wait()  # others of the account may have computed meanwhile
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
        """Book a slice and let others run; return whether there was one."""
        if self._open_ns < SLICE_NS:
            return False
        self.close()
        self._pause(0)
        return True
