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
