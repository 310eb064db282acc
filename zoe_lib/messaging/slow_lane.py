"""Slow questions: lanes with their own threads, and limits on the questions accepted at a time."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from zoe_lib.messaging.refusal import Refusal

Left = Callable[[], bool]
SlowHandler = Callable[[dict[str, Any], Left], dict[str, Any]]
"""Answer a question; end soon after the client has left, with any exception."""


@dataclass(frozen=True, slots=True)
class Lane:
    """Threads for questions that wait for the same resource; `busy` is the code of a refusal."""

    name: str
    threads: int
    busy: str


@dataclass(frozen=True, slots=True)
class Bounds:
    """Maximum questions of a kind at a time: in total, and from one client. `busy` is the code of a refusal."""

    in_all_max: int
    of_asker_max: int
    busy: str


@dataclass(frozen=True, slots=True)
class Slow:
    """A handler, its maximum questions at a time (in total, and from one client), and their lane."""

    handler: SlowHandler
    in_all_max: int
    of_asker_max: int
    lane: Lane

    @property
    def bounds(self) -> Bounds:
        """Return its limits, with the code of its lane."""
        return Bounds(self.in_all_max, self.of_asker_max, self.lane.busy)


class Places:
    """Count waiting and running questions. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: Counter[tuple[str, str]] = Counter()

    def take(self, kind: str, asker: str, bounds: Bounds) -> None:
        """Take a place; Refusal if none is free. Anonymous clients are limited in total only."""
        with self._lock:
            if asker and self._taken[kind, asker] >= bounds.of_asker_max:
                amount = "one" if bounds.of_asker_max == 1 else str(bounds.of_asker_max)
                raise Refusal(
                    bounds.busy, f"{amount} {kind} of yours is already in progress; try again when it is answered"
                )
            if sum(n for (of, _), n in self._taken.items() if of == kind) >= bounds.in_all_max:
                raise Refusal(
                    bounds.busy, f"{bounds.in_all_max} {kind} questions are already in progress; try again in a second"
                )
            self._taken[kind, asker] += 1

    @contextmanager
    def release_after(self, kind: str, asker: str) -> Iterator[None]:
        """Release a taken place at the end."""
        try:
            yield
        finally:
            with self._lock:
                self._taken[kind, asker] -= 1
                self._taken += Counter()  # drops the zeros

    @contextmanager
    def place(self, kind: str, asker: str, bounds: Bounds) -> Iterator[None]:
        """Hold a place; Refusal if none is free."""
        self.take(kind, asker, bounds)
        with self.release_after(kind, asker):
            yield
