"""Questions that take long have threads of their own, and bounds on how many of a kind are taken at once."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from zoe_lib.messaging.refusal import Refusal

SLOW_THREADS = 2

Left = Callable[[], bool]
SlowHandler = Callable[[dict[str, Any], Left], dict[str, Any]]
"""Answers a question; is to end soon once its asker has left, with any exception."""


@dataclass(frozen=True, slots=True)
class Slow:
    """A handler, and how many of its questions are taken at once: in all, and of one asker."""

    handler: SlowHandler
    in_all_max: int
    of_asker_max: int


class Places:
    """Count the slow questions that wait or are being answered. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: Counter[tuple[str, str]] = Counter()

    def take(self, kind: str, asker: str, slow: Slow) -> None:
        """Take a place; Refusal `plan_busy` when none is left. Who sends no name is bounded by the others only."""
        with self._lock:
            if asker and self._taken[kind, asker] >= slow.of_asker_max:
                raise Refusal("plan_busy", f"a {kind} of yours is being computed; try again when it is done")
            if sum(n for (of, _), n in self._taken.items() if of == kind) >= slow.in_all_max:
                raise Refusal(
                    "plan_busy", f"{slow.in_all_max} {kind} questions are being computed; try again in a second"
                )
            self._taken[kind, asker] += 1

    @contextmanager
    def held(self, kind: str, asker: str) -> Iterator[None]:
        """Give a place that was taken back at the end."""
        try:
            yield
        finally:
            with self._lock:
                self._taken[kind, asker] -= 1
                self._taken += Counter()  # drops the zeros
