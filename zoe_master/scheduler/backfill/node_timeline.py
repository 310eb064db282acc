"""The free amounts of one node over time, with its releases and reservations."""

from __future__ import annotations

import math
from bisect import insort
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.resources import Resources, services_that_fit


@value(frozen=True, slots=True)
class TimelineStep:
    """Free amounts and number of services from `begins_s` until the next step; the first step is the present."""

    begins_s: float
    free: Resources
    services: int


class NodeTimeline:
    """Steps of one node. Times are in seconds since the epoch; the present begins at minus infinity.

    `present`: free amounts of the present rooms, the smallest first; releases add to the last one.
    """

    def __init__(self, present: Iterable[tuple[Resources, int]], releases: Iterable[tuple[float, Resources]]) -> None:
        self._present = list(present)
        self._changes = [(time_s, number, amount, -1) for number, (time_s, amount) in enumerate(releases)]
        self._reserved_now: list[Resources] = []
        self._steps: list[TimelineStep] | None = None

    def reserve(self, begins_s: float, ends_s: float, amount: Resources) -> None:
        """Take an amount for one service from a time (minus infinity: now) until another."""
        self._steps = None
        if begins_s == -math.inf:
            self._reserved_now.append(amount)
        else:
            insort(self._changes, (begins_s, self._next(), Resources() - amount, 1), key=_time)
        if ends_s < math.inf:
            insort(self._changes, (ends_s, self._next(), amount, -1), key=_time)

    def present(self, room: int) -> TimelineStep:
        """Return the step of a present room."""
        free, services = self._present[room]
        for amount in self._reserved_now:
            free = free - amount
        return TimelineStep(-math.inf, free, services + len(self._reserved_now))

    def steps(self) -> list[TimelineStep]:
        """Return all steps, beginning with the last present room."""
        if self._steps is None:
            self._steps = list(self._make_steps())
        return self._steps

    def _make_steps(self) -> Iterator[TimelineStep]:
        step = self.present(len(self._present) - 1)
        for time_s, _, added, services in self._changes:
            if time_s != step.begins_s:
                yield step
            step = TimelineStep(time_s, step.free + added, step.services + services)
        yield step

    def _next(self) -> int:
        return len(self._changes)


def _time(change: tuple[float, int, Resources, int]) -> float:
    return change[0]


def counts_within(
    timelines: Sequence[Sequence[TimelineStep]], amount: Resources, begins: npt.NDArray[np.float64], run_s: float
) -> npt.NDArray[np.int64]:
    """Return for each begin how many services of this size fit on all these nodes together until `run_s` later.

    `begins`: in ascending order. A sliding minimum for each node, in O(steps) after a search for their begins.
    """
    changes = np.zeros(len(begins) + 1, dtype=np.int64)
    all_steps = np.array([step.begins_s for steps in timelines for step in steps])
    # A step counts from the first begin that reaches it until the first one at its end, where the next step begins.
    with np.errstate(over="ignore"):  # a run time that hardly a float holds ends never, as in Python
        enters = np.searchsorted(begins + run_s, all_steps, "right").tolist()
    leaves = np.searchsorted(begins, all_steps, "left").tolist()
    place = 0
    for steps in timelines:
        end = place + len(steps)
        fits = [services_that_fit(amount, step.free) for step in steps]
        _add_minima(changes, fits, enters[place:end], [*leaves[place + 1 : end], len(begins)])
        place = end
    return np.cumsum(changes[:-1])


def _add_minima(changes: npt.NDArray[np.int64], fits: list[int], enters: list[int], leaves: list[int]) -> None:
    """Add the changes of the least of `fits` that are present at each position: each from `enters` before `leaves`."""
    if not any(fits):
        return
    present: deque[int] = deque()
    entered = least = 0
    for position in sorted({*enters, *leaves[:-1]}):
        while entered < len(fits) and enters[entered] <= position:
            while present and fits[present[-1]] >= fits[entered]:
                present.pop()
            present.append(entered)
            entered += 1
        while leaves[present[0]] <= position < leaves[-1]:
            present.popleft()
        if fits[present[0]] != least:
            changes[position] += fits[present[0]] - least
            least = fits[present[0]]
