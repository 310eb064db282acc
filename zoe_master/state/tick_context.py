"""What all steps of one tick share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

# What can wait is left to the next tick when a tick has taken this long: half of what users notice, since what cannot
# wait comes after it.
_WORK_S = 0.3


@dataclass(frozen=True, slots=True)
class TickContext:
    """The time of a tick, in seconds since the epoch, and the id that its events carry as their cause.

    `clock`: gives the time at any moment; None does not hurry.
    """

    now_s: float
    plan_id: str
    clock: Callable[[], float] | None = None

    def spent(self) -> bool:
        """Whether what can wait is to be left to the next tick; also when the clock was set meanwhile."""
        return self.clock is not None and not 0 <= self.clock() - self.now_s < _WORK_S
