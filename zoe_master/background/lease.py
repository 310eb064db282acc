"""The leader's lease: renewed while the loop makes progress, watched by standbys.

A leader whose process dies releases its lock at once; if its host dies, the database notices it later. A leader that
is paused or hangs keeps the lock but does not renew its lease. A standby then deposes it, and the epoch refuses its
writes when it wakes up (decision 10).
"""

from __future__ import annotations

import math
import threading

import structlog

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.errors import StoreError
from zoe_lib.store.values import Leader
from zoe_master.state.crash_points import CrashPoint, Hit

log = structlog.get_logger(__name__)

_RENEWALS_IN_A_LEASE = 5


class LeaderProgress:
    """When the loop last made progress, in seconds of a monotonic clock. The loop notes it; another thread reads it.

    A loop that has not begun does not count as hanging: reading a large state takes long, and its queries have
    timeouts.
    """

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._at_s = math.inf

    def note(self) -> None:
        """Record progress of the loop."""
        self._at_s = self._clock.monotonic_s()

    def idle_s(self) -> float:
        """Return for how long the loop has made no progress."""
        return self._clock.monotonic_s() - self._at_s

    def noting_hook(self, hit: Hit) -> Hit:
        """Return `hit` with a note at each point, so that a long tick counts as progress."""

        def note_and_hit(point: CrashPoint) -> None:
            self.note()
            hit(point)

        return note_and_hit


class LeaderLease:
    """Renews the lease of one epoch, until it is closed or the loop has made no progress for `hang_s`."""

    def __init__(
        self,
        store: ExecutionStore,
        epoch: int,
        lease_s: float,
        hang_s: float,
        progress: LeaderProgress,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._store = store
        self._epoch = epoch
        self._interval_s = lease_s / _RENEWALS_IN_A_LEASE
        self._hang_s = hang_s
        self._progress = progress
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="zoe-lease", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        hangs = False
        while not self._clock.wait(self._closing, self._interval_s):
            stands_s = self._progress.idle_s()
            if stands_s >= self._hang_s:
                if not hangs:
                    log.error("the loop makes no progress; its lease is not renewed", stands_s=round(stands_s, 1))
                hangs = True
                continue
            hangs = False
            try:
                self._store.renew_lead(self._epoch)
            except StoreError as error:
                log.warning("the lease was not renewed", why=str(error))


class LeaderWatch:
    """A standby's view of the leader's lease: deposes a leader that has not renewed its lease for `lease_s`."""

    def __init__(self, store: ExecutionStore, lease_s: float, clock: Clock = SYSTEM_CLOCK) -> None:
        self._store = store
        self._lease_s = lease_s
        self._clock = clock
        self._seen: Leader | None = None
        self._since_s = 0.0

    def look(self) -> None:
        """Read the lease; depose the leader if it was not renewed in time. Raises StoreUnavailable."""
        now_s = self._clock.monotonic_s()
        leader = self._store.leader()
        if leader != self._seen:
            self._seen, self._since_s = leader, now_s
            return
        if leader is not None and now_s - self._since_s >= self._lease_s and self._store.depose(leader):
            log.warning("deposed a leader that makes no progress", leader=leader.holder, epoch=leader.epoch)
            self._seen = None
