"""Restart processes that end by themselves, in a thread during a demo, until restarts become too frequent."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from rich.console import Console

LOOK_INTERVAL_S = 0.5
REVIVALS_MAX = 5
REVIVALS_WITHIN_S = 60.0
"""If processes end more often than this, a restart does not help."""
PATIENCE_S = 60.0
"""Seconds for which a demo retries requests while a part restarts."""


class Revivals:
    """Counts restarts."""

    def __init__(self) -> None:
        self._at_s: deque[float] = deque(maxlen=REVIVALS_MAX)

    def record_restart(self, now_s: float) -> bool:
        """Record a restart; return whether it is one too many."""
        often = len(self._at_s) == REVIVALS_MAX and now_s - self._at_s[0] < REVIVALS_WITHIN_S
        self._at_s.append(now_s)
        return often


class PartsKeeper:
    """Use as a context manager around work that needs all parts. `revive` restarts parts and returns a sentence for
    each; if it raises an error, or parts end too often, it is not called again.
    """

    def __init__(self, console: Console, revive: Callable[[], Sequence[str]]) -> None:
        self._console, self._revive = console, revive
        self.revived = False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="keeps-up", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the thread, and advise the user if the work failed after a restart."""
        self._closing.set()
        self._thread.join()
        if self.revived and isinstance(error, Exception):
            self.say_again()

    def say_again(self) -> None:
        """Advise the user if the work has failed after a restart; print nothing without one."""
        if self.revived:
            self._console.print("A part had ended by itself meanwhile. Run this again.", style="yellow")

    def _run(self) -> None:
        revivals = Revivals()
        while not self._closing.wait(LOOK_INTERVAL_S):
            try:
                stories = self._revive()
            except Exception as error:  # any error, since the waiting user has to see it
                self.revived = True
                self._console.print(f"A part cannot be restarted: {error}", style="red", markup=False)
                return
            for story in stories:
                self.revived = True
                self._console.print(story, style="yellow", markup=False)
                if revivals.record_restart(time.monotonic()):
                    self._console.print("It ended too often, so it is not restarted again.", style="red")
                    return
