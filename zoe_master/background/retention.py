"""The thread that sums the use of ended executions and removes old ones, in small batches, beside the loop."""

from __future__ import annotations

import threading

import structlog

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.errors import StoreError

log = structlog.get_logger(__name__)

_INTERVAL_S = 3600.0
_REMOVALS_IN_RETENTION = 24
# Ended executions without sums cost time in every query for sums: half a minute of a busy master is some thousand
# entries.
_SUM_UP_S = 20.0
# Pause between two batches, so that others have the database to themselves most of the time.
_REST_S = 1.0


def removal_interval_s(retention_s: float) -> float:
    """Return the interval between removals: an hour, or less where executions stay for less than a day."""
    return min(_INTERVAL_S, retention_s / _REMOVALS_IN_RETENTION)


class ExecutionRetention:
    """Runs beside one master until it is closed."""

    def __init__(
        self,
        store: ExecutionStore,
        interval_s: float = _INTERVAL_S,
        rest_s: float = _REST_S,
        sum_up_s: float = _SUM_UP_S,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._store = store
        self._sum_up_s = sum_up_s
        self._interval_s = interval_s
        self._rest_s = rest_s
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="zoe-upkeep", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        prune_at_s = self._clock.monotonic_s()
        pause_s = 0.0
        while not self._clock.wait(self._closing, pause_s):
            more = self._sum_up()
            pause_s = self._rest_s if more else self._sum_up_s
            # Removal sums all remaining executions in one transaction, so it waits until few are left.
            if more is False and self._clock.monotonic_s() >= prune_at_s:
                removed = self._batch()
                prune_at_s = self._clock.monotonic_s() + (self._rest_s if removed else self._interval_s)
                pause_s = min(pause_s, prune_at_s - self._clock.monotonic_s())

    def _sum_up(self) -> bool | None:
        """Return whether there are more to sum; None if the store could not be reached."""
        try:
            return self._store.sum_up()
        except StoreError as error:
            log.warning("cannot sum the use of ended executions", why=str(error))
            return None

    def _batch(self) -> int:
        try:
            removed = self._store.prune(self._clock.now_s())
        except StoreError as error:
            log.warning("removing old data failed", why=str(error))
            return 0
        if removed:
            log.info("removed", executions=removed)
        return removed
