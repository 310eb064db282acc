"""A thread that polls a system regularly, and makes it equal to a desired state."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import structlog

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_master.waker import TickWaker

log = structlog.get_logger(__name__)
W = TypeVar("W")
T = TypeVar("T")
V_contra = TypeVar("V_contra", contravariant=True)

# Longer than any pause between two ticks, which are a few seconds apart.
_FRESH_S = 60.0


class Reconciliation(Protocol[V_contra, T]):
    """Makes a system equal to a desired state, and reports its state, without delaying the caller."""

    def set_desired(self, desired: V_contra) -> int:
        """Set the desired state; return the number of the request, a higher one for each change."""
        ...

    @property
    def last_result(self) -> tuple[int, T]:
        """Return the result of the last poll, with the number of the request at its start."""
        ...

    def publish_partial(self, found: T) -> None:
        """Publish partial results of the running poll."""
        ...

    def close(self) -> None:
        """Stop polling."""
        ...


class ReconcileThread(Generic[W, T]):
    """Polls when the desired state changes and every `interval_s`; new results wake the master.

    `look` gets the desired state, or None if it must change nothing: before the first tick, and after a while without
    ticks, since another master may lead by then. `failed` is the result if `look` raises.
    """

    def __init__(
        self,
        name: str,
        look: Callable[[W | None], T],
        first: T,
        failed: T,
        waker: TickWaker,
        interval_s: float,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._look = look
        self._failed = failed
        self._waker = waker
        self._interval_s = interval_s
        self._order: tuple[int, W | None] = (0, None)
        self._ordered_at_s = 0.0
        self.last_result: tuple[int, T] = (0, first)
        """The result of the last poll, with the number of the request at its start."""
        self._changed = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def set_desired(self, desired: W) -> int:
        """Set the desired state; return the number of the request, a higher one for each change."""
        self._ordered_at_s = self._clock.monotonic_s()
        number, before = self._order
        if desired != before:
            number += 1
            self._order = (number, desired)
            self._changed.set()
        return number

    def publish_partial(self, found: T) -> None:
        """Publish partial results of the running poll; `look` calls it. The number stays that of the last poll."""
        if found != self.last_result[1]:
            self.last_result = (self.last_result[0], found)
            self._waker.wake()

    def close(self) -> None:
        """Stop after the running poll."""
        self._closing = True
        self._changed.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._closing:
            self._changed.clear()
            number, desired = self._order
            fresh = self._clock.monotonic_s() - self._ordered_at_s < _FRESH_S
            before = self.last_result
            try:
                self.last_result = (number, self._look(desired if fresh else None))
            except Exception:  # a defect of Zoe must not end the thread: no SLO would ever be removed
                log.exception("polling the storage controller failed")
                self.last_result = (number, self._failed)
            if self.last_result != before:
                self._waker.wake()
            self._clock.wait(self._changed, self._interval_s)
