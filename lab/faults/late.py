"""A storage controller that answers late: the counterpart of the master's `ReconcileThread` in simulated time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from storage_bridge.base import StorageController
from zoe_lib.clock import Clock
from zoe_master.storage.reconcile_thread import Reconciliation
from zoe_master.storage.reconciler import ThreadedReconciler
from zoe_master.storage.slo_reconciler import DesiredSlos
from zoe_master.waker import TickWaker

W = TypeVar("W")
T = TypeVar("T")
# The default of the setting `storage_interval_s`.
_INTERVAL_S = 5.0


class Lateness:
    """Present duration of a poll in simulated seconds, and how to let it pass. A poll that takes longer than
    `timeout_s` fails; the master does not know whether the controller carried the request out, and here it did.
    """

    timeout_s = 10.0
    takes_s = 0.0

    def __init__(self, clock: Clock, after: Callable[[float, Callable[[], None]], None]) -> None:
        self.clock = clock
        self.after = after


class LateStorage(ThreadedReconciler):
    """The production reconcilers without their threads."""

    def __init__(self, controller: StorageController, lateness: Lateness, waker: TickWaker) -> None:
        self._lateness = lateness
        super().__init__(controller, controller, waker, _INTERVAL_S)

    def _aside(
        self,
        name: str,  # noqa: ARG002
        look: Callable[[DesiredSlos | None], T],
        first: T,
        failed: T,
    ) -> Reconciliation[DesiredSlos, T]:
        return LateReconciler(self._lateness, look, first, failed, self._waker, self._interval_s)


class LateReconciler(Generic[W, T]):
    """Polls when the desired state changes or `interval_s` have passed; completes at once if polls take no time."""

    def __init__(
        self,
        lateness: Lateness,
        look: Callable[[W | None], T],
        first: T,
        failed: T,
        waker: TickWaker,
        interval_s: float,
    ) -> None:
        self._lateness = lateness
        self._look = look
        self._failed = failed
        self._waker = waker
        self._interval_s = interval_s
        self._order: tuple[int, W | None] = (0, None)
        self._seen: tuple[int, T] = (0, first)
        self._under_way = False
        self._looked_at_s = -interval_s
        self._closed = False

    def set_desired(self, desired: W) -> int:
        """Set the desired state; return its number, which increases with each change."""
        number, before = self._order
        if desired != before:
            number += 1
            self._order = (number, desired)
        if number != self._seen[0] or self._lateness.clock.now_s() >= self._looked_at_s + self._interval_s:
            self._begin()
        return number

    @property
    def last_result(self) -> tuple[int, T]:
        """Return the result of the last poll, with the number of the desired state at its start."""
        if not self._lateness.takes_s:
            self._begin()
        return self._seen

    def publish_partial(self, found: T) -> None:
        """Publish nothing before the end of the poll."""

    def close(self) -> None:
        """Stop publishing."""
        self._closed = True

    def _begin(self) -> None:
        if self._under_way or self._closed:
            return
        takes_s, timeout_s = self._lateness.takes_s, self._lateness.timeout_s
        number, desired = self._order
        if not takes_s:
            self._end(number, self._look(desired))
            return
        self._under_way = True
        self._lateness.after(min(takes_s, timeout_s), lambda: self._answer(number, desired, takes_s > timeout_s))

    def _answer(self, number: int, desired: W | None, too_late: bool) -> None:
        if self._closed:
            return
        self._under_way = False
        before, found = self._seen, self._look(desired)
        self._end(number, self._failed if too_late else found)
        if self._seen != before:
            self._waker.wake()
        if self._order[0] != number:
            self._begin()
        elif too_late:
            self._lateness.after(self._interval_s, self._begin)

    def _end(self, number: int, found: T) -> None:
        self._seen = (number, found)
        self._looked_at_s = self._lateness.clock.now_s()
