"""The named steps of submission, start and stop, so that tests can end the master at each of them."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum


class CrashPoint(StrEnum):
    """A point between two effects; a master that dies there must leave nothing wrong behind."""

    QUEUED = "queued"
    PLANNED = "planned"
    START_PLANNED = "start_planned"
    SLO_SET = "slo_set"
    SLO_CLEARED = "slo_cleared"
    VIEW_MADE = "view_made"
    VIEW_DROPPED = "view_dropped"
    STORAGE_SYNCED = "storage_synced"
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


def never_crash(_step: CrashPoint) -> None:
    """Reach a step and go on."""
