"""Remove the containers of views of owners with an expired lease, every few seconds."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from storage_controller.answers import RequestRefusedError
from zoe_lib.clock import SYSTEM_CLOCK, Clock

_INTERVAL_S = 5.0
_log = logging.getLogger(__name__)


class ViewSweeper:
    """A separate thread; failed removals are retried."""

    def __init__(self, sweep: Callable[[], None], interval_s: float = _INTERVAL_S, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._sweep = sweep
        self._interval_s = interval_s
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="zoe-view-sweeper", daemon=True)

    def begin(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._clock.wait(self._closing, self._interval_s):
            try:
                self._sweep()
            except RequestRefusedError as refusal:  # another controller leads, and removes them
                _log.debug("no expired views are removed: %s", refusal)
            except Exception:  # without this thread, containers would never be removed
                _log.exception("cannot remove expired views now")
