"""Run parts in parallel as far as the machine has cores for them, the longest first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from scripts.parts import Part

Outcome = TypeVar("Outcome")
# A part that waits for others leaves a core free now and then, so the parts may need this many cores more than there
# are.
SPARE_CORES = 0.3


class PartSchedule:
    """Decides which part starts next. Any part may start when nothing runs, so all of them run."""

    def __init__(self, parts: Sequence[Part], cores: float) -> None:
        self._waiting = sorted(parts, key=lambda part: (part.quiet, -part.seconds))
        self._running: list[Part] = []
        self._cores = cores + SPARE_CORES

    def start_next(self) -> Part | None:
        """Return the longest part that fits beside the running ones; None if none does."""
        for part in self._waiting:
            if self._fits(part):
                self._waiting.remove(part)
                self._running.append(part)
                return part
        return None

    def end(self, part: Part) -> None:
        """Release what the part held."""
        self._running.remove(part)

    @property
    def running(self) -> list[str]:
        """Return the names of the running parts."""
        return [part.name for part in self._running]

    def _fits(self, part: Part) -> bool:
        if not self._running:
            return True
        if any(other.quiet is not part.quiet for other in self._running):
            return False
        if part.uses and any(other.uses == part.uses for other in self._running):
            return False
        return sum(other.cores for other in self._running) + part.cores <= self._cores


def run_beside(schedule: PartSchedule, count: int, work: Callable[[Part], Outcome]) -> list[Outcome]:
    """Run the work of all `count` parts in threads, each as soon as the schedule permits; yield the outcomes as they
    end.
    """
    changed, outcomes = threading.Condition(), list[Outcome]()

    def one(part: Part) -> None:
        try:
            outcome = work(part)
        finally:
            with changed:
                schedule.end(part)
                changed.notify()
        outcomes.append(outcome)

    with ThreadPoolExecutor(max(count, 1)) as pool:
        futures = []
        for _ in range(count):
            with changed:
                while (part := schedule.start_next()) is None:
                    changed.wait()
            futures.append(pool.submit(one, part))
        for future in futures:
            future.result()
    return outcomes
