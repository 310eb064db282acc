"""How long a what-if question may compute. The scheduler reads no clock: the asker hands in when to give up."""

from __future__ import annotations

from collections.abc import Callable

GiveUp = Callable[[], bool]
"""Asked again and again during a pass; True ends it."""


class OutOfBudget(Exception):  # noqa: N818 - the name is the fact
    """The asker gave up before there was an answer."""


def never() -> bool:
    """Let every pass come to its end; passes that decide have no budget."""
    return False
