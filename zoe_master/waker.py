"""The one thing the master's loop waits on."""

from __future__ import annotations

import threading


class Waker:
    """Woken by the back-end, by ZeroMQ and by signals; any number of wakes before a wait count as one."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def wake(self) -> None:
        """Let the loop run once more; callable from any thread and from signal handlers."""
        self._event.set()

    def wait(self, timeout_s: float) -> bool:
        """Wait until woken or for `timeout_s`; True when woken."""
        woken = self._event.wait(timeout_s)
        self._event.clear()
        return woken
