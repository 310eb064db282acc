"""The event on which the master's loop waits."""

from __future__ import annotations

import contextlib
import queue


class TickWaker:
    """Woken by the back-end, by ZeroMQ and by signals; any number of wakes before a wait count as one."""

    def __init__(self) -> None:
        # Its `put` may interrupt a `get` of the same thread, as in a signal handler; an Event would deadlock there.
        self._wakes: queue.SimpleQueue[None] = queue.SimpleQueue()

    def wake(self) -> None:
        """Make the loop run once more; callable from any thread and from signal handlers."""
        if self._wakes.empty():
            self._wakes.put(None)

    def wait(self, timeout_s: float) -> bool:
        """Wait until woken or for `timeout_s`; return True if woken."""
        try:
            self._wakes.get(timeout=max(timeout_s, 0.0))
        except queue.Empty:
            return False
        with contextlib.suppress(queue.Empty):
            while True:
                self._wakes.get_nowait()
        return True
