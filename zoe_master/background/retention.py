"""The thread that removes what is too old, in small batches, without holding up the loop that decides."""

from __future__ import annotations

import threading
import time

import structlog

from zoe_lib.store.base import ExecutionStore, StoreError

log = structlog.get_logger(__name__)

_INTERVAL_S = 3600.0
# Between two batches, so that others have the database to themselves for most of the time.
_REST_S = 1.0


class ExecutionRetention:
    """Runs beside one master until it is closed."""

    def __init__(self, store: ExecutionStore, interval_s: float = _INTERVAL_S, rest_s: float = _REST_S) -> None:
        self._store = store
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
        pause_s = 0.0
        while not self._closing.wait(pause_s):
            pause_s = self._rest_s if self._batch() else self._interval_s

    def _batch(self) -> int:
        try:
            removed = self._store.prune(time.time())
        except StoreError as error:
            log.warning("nothing was removed", why=str(error))
            return 0
        if removed:
            log.info("removed", executions=removed)
        return removed
