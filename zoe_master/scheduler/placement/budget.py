"""Budgets of what-if requests and of passes. The scheduler reads no clock: it counts steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

# Steps of a what-if request, each from the beginning of the request: until the end of a pass over the queue, of the
# search for a smaller application that would start, of the forecast, and of a decision on promises. A step takes some
# five microseconds: it is a look at an execution, a placed service, or a look at a few nodes.
PASS_STEPS = 200_000
SEARCH_STEPS = 100_000
FORECAST_STEPS = 160_000
PROMISE_STEPS = 600_000
NODES_OF_A_STEP = 16
# A reservation looks at each node at many times.
NODES_OF_A_STEP_OVER_TIME = 2


class _CountsSteps(Protocol):
    def __call__(self, steps: int = 1, /) -> bool: ...


GiveUp = _CountsSteps
"""A function that is called repeatedly during a pass, with the steps done since; True ends the pass."""


class OutOfBudget(Exception):  # noqa: N818 - the name is the fact
    """The caller gave up before there was an answer."""


def never(steps: int = 1, /) -> bool:  # noqa: ARG001 - as every GiveUp
    """Never give up: deciding passes have no budget."""
    return False


class StepCount:
    """Counts the steps of a request, so that the same snapshot gets the same answer on every machine.

    `left` returns whether the client has disconnected. `cut_after`: the budget that was used up, if any.
    """

    def __init__(self, left: Callable[[], bool] = never) -> None:
        self.cut_after: int | None = None
        self._left = left
        self._taken = 0

    def spent_after(self, most: int) -> GiveUp:
        """Return a function that counts steps, and returns whether more than these were taken since the beginning, or
        the client has disconnected.
        """

        def spent(steps: int = 1, /) -> bool:
            self._taken += steps
            if self._taken > most:
                self.cut_after = most
                return True
            return self._left()

        return spent


class ScanBudget:
    """How many nodes a pass may still look at for executions behind the first waiting one.

    It counts steps and no time, so the same snapshot gives the same plan on every machine.
    """

    def __init__(self, looks: int) -> None:
        self._left = looks

    @property
    def spent(self) -> bool:
        """Return whether nothing is left."""
        return self._left <= 0

    def spend(self, looks: int) -> None:
        """Subtract the nodes of one trial; the last one may overdraw it."""
        self._left -= looks
