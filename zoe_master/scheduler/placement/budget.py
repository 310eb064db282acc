"""The time limit of a what-if request. The scheduler reads no clock: the caller decides when to give up."""

from __future__ import annotations

from collections.abc import Callable

GiveUp = Callable[[], bool]
"""A function that is called repeatedly during a pass; True ends the pass."""


class OutOfBudget(Exception):  # noqa: N818 - the name is the fact
    """The caller gave up before there was an answer."""


def never() -> bool:
    """Never give up: deciding passes have no budget."""
    return False


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
