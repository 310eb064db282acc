"""Restart what ends by itself, in a thread while a demo runs; and the bound beyond which that does not help."""

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
"""For so long a demo's requests are tried again while a part is restarted."""


class Revivals:
    """Counts restarts."""

    def __init__(self) -> None:
        self._at_s: deque[float] = deque(maxlen=REVIVALS_MAX)

    def too_often(self, now_s: float) -> bool:
        """Note a restart; return whether it is one too many."""
        often = len(self._at_s) == REVIVALS_MAX and now_s - self._at_s[0] < REVIVALS_WITHIN_S
        self._at_s.append(now_s)
        return often


class KeptUp:
    """Use as a context manager around what needs all parts. `revive` restarts parts and returns a sentence for each; if
    it raises an error, or parts end too often, it is not called again.
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
        """End the thread, and say what to do if what ran beside it failed after a restart."""
        self._closing.set()
        self._thread.join()
        if self.revived and isinstance(error, Exception):
            self.say_again()

    def say_again(self) -> None:
        """Say what to do if what ran beside has failed after a restart; nothing without one."""
        if self.revived:
            self._console.print("A part had ended by itself meanwhile. Run this again.", style="yellow")

    def _run(self) -> None:
        revivals = Revivals()
        while not self._closing.wait(LOOK_INTERVAL_S):
            try:
                stories = self._revive()
            except Exception as error:  # whatever it is, the one who waits has to see it
                self.revived = True
                self._console.print(f"A part cannot be restarted: {error}", style="red", markup=False)
                return
            for story in stories:
                self.revived = True
                self._console.print(story, style="yellow", markup=False)
                if revivals.too_often(time.monotonic()):
                    self._console.print("That happens too often, so it is not restarted again.", style="red")
                    return
