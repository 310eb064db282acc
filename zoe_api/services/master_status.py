"""The master's status; while the master is away, one thread of the process waits for it instead of every request."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.messaging.client import MasterUnreachable

# A running master answers within milliseconds.
WAIT_S = 1.0
# While callers keep asking, the thread keeps trying, so that the return of the master shows at once.
_INTEREST_S = 10.0
_PAUSE_S = 0.2


class MasterStatus:
    """Requests the master's status, once at a time for all requests of the process. Thread-safe."""

    def __init__(self, ask: Callable[[], dict[str, Any]], clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._ask = ask
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(1, "master-status")
        self._question: Future[dict[str, Any]] | None = None
        self._away = False
        self._wanted_at_s = 0.0
        self._closing = threading.Event()

    def read(self) -> dict[str, Any]:
        """Return the status; MasterUnreachable after `WAIT_S`, and at once while an earlier request is pending."""
        with self._lock:
            self._wanted_at_s = self._clock.monotonic_s()
            if self._question is None:
                self._away = False
                self._question = self._pool.submit(self._ask_on)
            elif self._away:
                raise MasterUnreachable("no answer from the master; the API goes on asking")
            question = self._question
        try:
            return question.result(WAIT_S)
        except TimeoutError:
            with self._lock:
                self._away = question is self._question
            raise MasterUnreachable(f"no answer from the master within {WAIT_S:g} s") from None

    def close(self) -> None:
        """Stop asking."""
        self._closing.set()
        self._pool.shutdown(wait=False)

    def _ask_on(self) -> dict[str, Any]:
        """Retry until there is an answer, or until no caller has wanted one for a while."""
        try:
            while True:
                try:
                    return self._ask()
                except MasterUnreachable:
                    if (
                        self._clock.wait(self._closing, _PAUSE_S)
                        or self._clock.monotonic_s() - self._wanted_at_s > _INTEREST_S
                    ):
                        raise
        finally:
            with self._lock:
                self._question = None
