"""Named points of submission, start and stop, so that tests can end the master at each of them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from enum import StrEnum


class CrashPoint(StrEnum):
    """A point between two effects; a master that dies there must leave a consistent state."""

    QUEUED = "queued"
    PLANNED = "planned"
    START_PLANNED = "start_planned"
    SLO_SET = "slo_set"
    SLO_CLEARED = "slo_cleared"
    VIEW_MADE = "view_made"
    VIEW_DROPPED = "view_dropped"
    STORAGE_SYNCED = "storage_synced"
    STORAGE_TOLD = "storage_told"
    INPUTS_DECIDED = "inputs_decided"
    SERVICE_STARTING = "service_starting"
    SERVICE_HANDED_OVER = "service_handed_over"
    OBSERVED = "observed"
    OBSERVATIONS_KEPT = "observations_kept"
    STOPPING = "stopping"
    SERVICE_STOPPING = "service_stopping"
    STOP_HANDED_OVER = "stop_handed_over"
    ENDED = "ended"
    FORGOTTEN = "forgotten"


Hit = Callable[[CrashPoint], None]


def never_crash(_point: CrashPoint) -> None:
    """Do nothing, and continue."""


def crash_point_of(environment: Mapping[str, str]) -> Hit:
    """Return the action of the master at each crash point.

    For tests: the process sends itself ZOE_CRASH_SIGNAL (SIGKILL; SIGSTOP is a pause) at the point named by
    ZOE_CRASH_AT. By default it does nothing.
    """
    if "ZOE_CRASH_AT" not in environment:
        return never_crash
    chosen = CrashPoint(environment["ZOE_CRASH_AT"])
    signal_number = signal.Signals[environment.get("ZOE_CRASH_SIGNAL", "SIGKILL")]

    def crash(point: CrashPoint) -> None:
        if point is chosen:
            os.kill(os.getpid(), signal_number)

    return crash
