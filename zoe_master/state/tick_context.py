"""What all steps of one tick share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TickContext:
    """The time of a tick, in seconds since the epoch, and the id that its events carry as their cause."""

    now_s: float
    plan_id: str
