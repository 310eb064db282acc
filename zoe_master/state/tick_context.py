"""Shared values of all steps of one tick."""

from __future__ import annotations

from dataclasses import dataclass

from zoe_lib.clock import Clock

# A tick that has taken this long leaves deferrable work to the next tick: half of the delay that users notice, since
# the other half is for urgent work.
_WORK_S = 0.3


@dataclass(frozen=True, slots=True)
class TickContext:
    """The time of a tick, in seconds since the epoch, and the id that its events carry as their cause.

    clock: None sets no time limit.
    """

    now_s: float
    plan_id: str
    clock: Clock | None = None

    def is_spent(self) -> bool:
        """Return whether to leave the rest to the next tick; also true if the clock was set back meanwhile."""
        return self.clock is not None and not 0 <= self.clock.now_s() - self.now_s < _WORK_S
