"""Find the cause of a missed deadline from measured times. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from zoe_client.vocabulary import DeadlineCause, DeadlineStatus
from zoe_lib.domain.executions.arrays import member_of
from zoe_lib.domain.executions.execution import Execution, ExecutionState, Mark, pause_of
from zoe_lib.domain.executions.guaranteed import awaits_promise
from zoe_lib.domain.executions.promises import required_rates
from zoe_lib.domain.values.deadlines import DeadlineMiss

# External causes come first, and the run time last: every other cause lengthens that, too.
_LOSSES = (
    DeadlineCause.INPUT_LATE,
    DeadlineCause.NODES_LOST,
    DeadlineCause.ATTEMPTS_FAILED,
    DeadlineCause.STORE,
    DeadlineCause.QUEUE,
    DeadlineCause.SLOWER,
)


def expected_run_s(execution: Execution) -> float | None:
    """Return the declared run time, else that of its promise, else the forecast one; None without. A time limit says
    little.
    """
    application, told = execution.application, execution.forecast
    limit_s = application.time_limit_s
    expected_s = application.expected_run_s
    if not expected_s and execution.promise is not None:
        expected_s = execution.promise.terms.run_s
    if not expected_s and told is not None and told.run_s != limit_s:
        expected_s = told.run_s
    return expected_s if not expected_s or limit_s is None else min(expected_s, limit_s)


def miss_of_late_index(execution: Execution, at_s: float) -> DeadlineMiss | None:
    """Return the miss of an array's index that begins at that time, after its deadline; None if the deadline has not
    passed.

    The array has recorded it among the indices that had not begun at the deadline.
    """
    deadline_s = execution.deadline_s
    if deadline_s is None or at_s < deadline_s or member_of(execution.id) is None:
        return None
    return DeadlineMiss(deadline_s, DeadlineCause.NOT_BEGUN, {}, expected_run_s(execution))


def miss_of(execution: Execution, deadline_s: float) -> DeadlineMiss:
    """Return why an unfinished execution misses this deadline."""
    expected_s, window_s = expected_run_s(execution), deadline_s - _deadline_since_s(execution)
    costs_s, ran_s = _costs(execution, deadline_s, expected_s)
    cause = cause_of(costs_s, window_s, expected_s, ran_s)
    return DeadlineMiss(deadline_s, cause, costs_s, expected_s)


def cause_of(
    costs_s: Mapping[DeadlineCause, float], window_s: float, expected_s: float | None, ran_s: float
) -> DeadlineCause:
    """Return the cause: less time than the run takes; else the first loss that alone used up the spare time; else the
    largest loss.
    costs_s: seconds lost by cause. window_s: from the submission, or the promise, to the deadline. ran_s: run time of
    the present attempt. Without an expected run time the spare time is unknown: then it is the largest loss, unless the
    run took longer.
    """
    if window_s > 0 and expected_s is not None and expected_s > window_s:
        return DeadlineCause.TOO_SHORT
    lost = [cause for cause in _LOSSES if costs_s.get(cause, 0.0) > 0]
    spare_s = None if expected_s is None else max(window_s - expected_s, 0.0)
    for cause in lost:
        if spare_s is not None and costs_s[cause] > spare_s:
            return cause
    largest = max(lost, key=lambda cause: costs_s[cause], default=None)
    if spare_s is None and (largest is None or ran_s > costs_s[largest]):
        return DeadlineCause.RUN_TIME_UNKNOWN
    return largest or DeadlineCause.TOO_SHORT


def _costs(
    execution: Execution, until_s: float, expected_s: float | None
) -> tuple[Mapping[DeadlineCause, float], float]:
    """Return the seconds lost by then, by cause, and the run time of the present attempt."""
    marks, earlier = execution.marks, execution.earlier
    queued_at_s, placed_at_s = marks.get(Mark.QUEUED), marks.get(Mark.PLACED)
    total_s = until_s - _deadline_since_s(execution)
    waited_until_s = until_s if placed_at_s is None else placed_at_s
    pause_s = pause_of(execution, waited_until_s)
    queued_s = earlier.queued_s + max(_between(queued_at_s, waited_until_s) - pause_s, 0.0)
    attempt_s = _between(placed_at_s, until_s)
    store_s = _store_s(execution, until_s)
    ran_s = max(attempt_s - store_s, 0.0)
    failed_s = earlier.failed_s + pause_s
    wasted_s = earlier.lost_s + earlier.store_s + failed_s
    found = {
        DeadlineCause.INPUT_LATE: total_s - queued_s - attempt_s - wasted_s,  # the rest: before it entered the queue
        DeadlineCause.NODES_LOST: earlier.lost_s,
        DeadlineCause.ATTEMPTS_FAILED: failed_s,
        DeadlineCause.STORE: earlier.store_s + store_s,
        DeadlineCause.QUEUE: queued_s,
        DeadlineCause.SLOWER: 0.0 if expected_s is None else ran_s - expected_s,
    }
    return {cause: round(seconds, 3) for cause, seconds in found.items() if seconds >= _LEAST_S}, ran_s


def _deadline_since_s(execution: Execution) -> float:
    """Return the time since when it has the deadline: an execution with a promise may have waited before for the
    promise, and for an answer.
    """
    return execution.submitted_at_s if execution.promise is None else execution.promise.at_s


# A shorter loss is the master's own latency.
_LEAST_S = 0.001


def _between(from_s: float | None, to_s: float) -> float:
    return 0.0 if from_s is None else max(to_s - from_s, 0.0)


def _store_s(execution: Execution, until_s: float) -> float:
    """Return how long the present attempt has waited for its bandwidth, or run without it since it was withdrawn."""
    marks = execution.marks
    if Mark.STORAGE_WITHDRAWN in marks:
        return _between(marks[Mark.STORAGE_WITHDRAWN], until_s)
    if required_rates(execution.application) is None or Mark.PLACED not in marks:
        return 0.0
    return max(min(marks.get(Mark.STORAGE_GRANTED, until_s), until_s) - marks[Mark.PLACED], 0.0)


def expected_end_s(execution: Execution, now_s: float) -> float | None:
    """Return the expected end of an unfinished execution: a waiting one by its last forecast, and not earlier than if
    it started now; None: its run time is unknown.
    """
    expected_s, placed_at_s, told = expected_run_s(execution), execution.marks.get(Mark.PLACED), execution.forecast
    if expected_s is None:
        return None
    if placed_at_s is not None:
        return max(placed_at_s + expected_s, now_s)
    forecast_s = None if told is None else told.end_p90_s
    return max(now_s + expected_s, forecast_s or 0.0)


def status_of(execution: Execution, now_s: float) -> DeadlineStatus | None:
    """Return the status of an execution against its deadline; None: no deadline, no known delay, or it did not
    succeed.
    """
    deadline_s = execution.deadline_s
    if execution.missed is not None:
        return DeadlineStatus.MISSED
    if deadline_s is None:
        return None
    if execution.terminal:
        return DeadlineStatus.MET if execution.state is ExecutionState.SUCCEEDED else None
    if awaits_promise(execution):  # it runs only if its user accepts another time
        return None
    if execution.promise is not None:  # forecasts ignore the room booked for it
        return None if execution.promise.notice is None else DeadlineStatus.AT_RISK
    ends_s = expected_end_s(execution, now_s)
    return DeadlineStatus.AT_RISK if ends_s is not None and ends_s > deadline_s else None
