"""Start the runs of schedules, beside the loop of the leader."""

from __future__ import annotations

import threading
from collections.abc import Callable

import structlog

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.schedules.values import Schedule
from zoe_lib.store.errors import StoreError, StoreUnavailable
from zoe_lib.submission.place import SubmissionPlace
from zoe_lib.submission.scheduling import run_due, skip_due
from zoe_master.background import metrics

log = structlog.get_logger(__name__)

_LOOK_S = 1.0
AT_ONCE_MAX = 200
"""Maximum schedules in one look, each in a transaction; the next look follows at once."""


class ScheduleThread:
    """Runs beside one master until it is closed; the next leader continues."""

    def __init__(
        self,
        place: SubmissionPlace,
        made: Callable[[], None],
        look_s: float = _LOOK_S,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._place, self._made, self._look_s = place, made, look_s
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="zoe-schedules", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        more, since_s = False, self._clock.now_s()
        while not self._closing.is_set():
            since_s, more = since_s if more else self._clock.now_s(), False
            try:
                more = look(self._place, self._clock.now_s(), self._made, self._closing.is_set, since_s)
            except StoreError as error:
                log.warning("schedules wait", why=str(error))
            except Exception:
                log.exception("looking at schedules failed")
            if not more:
                self._clock.wait(self._closing, self._look_s)


def look(
    place: SubmissionPlace,
    now_s: float,
    made: Callable[[], None],
    closing: Callable[[], bool] = lambda: False,
    since_s: float | None = None,
) -> bool:
    """Process a limited number of due times, and return whether there may be more at this moment; StoreError. since_s:
    when the first of consecutive looks began; None: now.
    """
    due = place.store.schedules.due(now_s, AT_ONCE_MAX)
    for schedule in due:
        if closing():
            return False
        if _worked_off(place, schedule, now_s, since_s):
            made()
    return len(due) == AT_ONCE_MAX


def _worked_off(place: SubmissionPlace, schedule: Schedule, now_s: float, since_s: float | None) -> bool:
    try:
        made = run_due(place, schedule, now_s, since_s)
    except StoreUnavailable:
        raise
    except Exception:
        log.exception("a schedule failed", schedule=schedule.id)
        skip_due(place, schedule, now_s)
        return False
    if made:
        metrics.SCHEDULED.inc()
        log.info("ran a schedule", schedule=schedule.id, tenant=schedule.tenant, user=schedule.user)
    return made
