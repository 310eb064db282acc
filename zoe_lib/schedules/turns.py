"""Find the due time of a schedule: the time that runs now, the missed ones, and the next one."""

from __future__ import annotations

from zoe_client.vocabulary import MissedPolicy
from zoe_lib.domain.values.frozen import value
from zoe_lib.schedules.values import Schedule

MISSED_AFTER_S = 300.0
"""A time found within this delay is not missed. It runs, even if earlier work takes long."""
MADE_UP_MAX = 100
"""Maximum missed times, the newest, that run by the policy `all`."""
COUNTED_MAX = 1000
BACK_S = 86400.0
"""If the clock goes back further than this, the next times are computed again."""


@value(frozen=True, slots=True)
class ScheduleTurn:
    """The result of a look at a schedule. run_s: the time that runs now; None: none. missed: how many were passed over,
    up to `missed_s`; at most 1,000 are counted. next_s: the next time, which may have passed already; None: there is
    none.
    """

    run_s: float | None
    missed: int
    missed_s: float | None
    next_s: float | None


def turn_of(schedule: Schedule, now_s: float, since_s: float | None = None) -> ScheduleTurn:
    """Return the due time, at most one: the next look finds the next one.
    since_s: start of the uninterrupted processing of due times, seconds since the epoch; None: now. A run submitted
    ahead is due that long before its time.
    """
    seen_s = now_s + schedule.ahead_s
    due_s = schedule.due_s
    if due_s is None:
        return ScheduleTurn(None, 0, None, None)
    if due_s > seen_s:
        next_s = first_after(schedule, now_s) if schedule.planned_at_s > now_s + BACK_S else due_s
        return ScheduleTurn(None, 0, None, next_s)
    until_s = max(due_s, seen_s - schedule.jitter_s)
    if schedule.end_at_s is not None:
        until_s = min(until_s, schedule.end_at_s)
    passed = schedule.times.newest(due_s, until_s, COUNTED_MAX)
    runs = _to_run(schedule, passed, now_s if since_s is None else min(since_s, now_s))
    if not runs:
        return ScheduleTurn(None, len(passed), passed[-1] if passed else None, first_after(schedule, until_s))
    missed = [value for value in passed if value < runs[0]]
    return ScheduleTurn(runs[0], len(missed), missed[-1] if missed else None, first_after(schedule, runs[0]))


def _to_run(schedule: Schedule, passed: list[float], found_s: float) -> list[float]:
    """Return the passed times that run: if submitted ahead, all that are not late."""
    if schedule.ahead_s and (timely := [value for value in passed if not _is_late(schedule, value, found_s)]):
        return passed[-MADE_UP_MAX:] if schedule.missed_policy is MissedPolicy.ALL else timely
    match schedule.missed_policy:
        case MissedPolicy.ALL:
            return passed[-MADE_UP_MAX:]
        case MissedPolicy.LATEST:
            return passed[-1:]
        case MissedPolicy.SKIP:
            return [value for value in passed[-1:] if not _is_late(schedule, value, found_s)]


def _is_late(schedule: Schedule, due_s: float, found_s: float) -> bool:
    return due_s + schedule.jitter_s + MISSED_AFTER_S < found_s


def first_after(schedule: Schedule, at_s: float) -> float | None:
    """Return the first time after this moment, unless it is after the end of the schedule."""
    found = schedule.times.next_after(at_s)
    return None if found is None or (schedule.end_at_s is not None and found > schedule.end_at_s) else found
