"""How many elastic services a running promised execution needs for its time, by its progress. Pure.

An early one returns unneeded services: these continue as ordinary elastic ones, which others may take back. One that is
no longer early gets its guarantee again. It converges: a dead band lies between returning services and getting them
again, each change needs a pause, and an attempt has few of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from zoe_lib.domain.executions.execution import Execution, ExecutionState, Mark
from zoe_lib.domain.values.finish_times import Promise
from zoe_lib.domain.values.progress import ExecutionProgress, remaining_s
from zoe_lib.run_times.samples import cores_now, setting_of
from zoe_master.scheduler.promising.choices import numbers_of

EARLY = 0.7
"""An execution returns services if it needs at most this share of the time left without them."""
LATE = 0.9
"""An execution that needs more than this share of the time left gets services again."""
PAUSE_SHARE, PAUSE_S = 0.1, 15.0
"""Pause between changes: this share of the promised run time, and at least this many seconds."""
DONE_LEAST = 0.25
"""Minimum finished share: before that, the pace says little of the rest."""


def adjusted_services(execution: Execution, progress: ExecutionProgress | None, now_s: float) -> int | None:
    """Return the number of elastic services to guarantee; None: no change. A promise at risk gets all of its services.
    `execution`: as it was submitted, with guaranteed services as elastic ones.
    """
    promise = execution.promise
    if promise is None or execution.state is not ExecutionState.RUNNING:
        return None
    kept, promised = promise.elastic_guarantee(execution.attempt), promise.terms.elastic
    if promise.notice is not None:
        return promised if kept < promised else None
    if not pause_is_over(execution, promise, now_s):
        return None
    needs_s = _needs_s(execution, progress, now_s)
    if not needs_s:
        return None
    there_is_s = promise.terms.finish_s - now_s
    enough = min((number for number, seconds in needs_s.items() if seconds <= EARLY * there_is_s), default=promised)
    late = needs_s[kept] > LATE * there_is_s
    return enough if enough < kept or (late and enough > kept) else None


def _needs_s(execution: Execution, progress: ExecutionProgress | None, now_s: float) -> Mapping[int, float]:
    """Return the remaining time for each number of guaranteed services; empty if unknown.

    It is the slower quartile of its readings with the present services, and proportionally longer with fewer cores.
    """
    promise = execution.promise
    if promise is None or progress is None or progress.attempt != execution.attempt:
        return {}
    cores, since_s = cores_now(execution)
    left = remaining_s([reading for reading in progress.readings if reading.at_s >= since_s], now_s)
    if left is None or left.high_s is None or (progress.share or 0.0) < DONE_LEAST:
        return {}
    numbers = {number for number in numbers_of(execution.application) if number < promise.terms.elastic}
    numbers |= {promise.elastic_guarantee(execution.attempt), promise.terms.elastic}
    with_each = {number: setting_of(execution.application, number).cores for number in sorted(numbers)}
    return {number: left.high_s * max(cores / fewer, 1.0) for number, fewer in with_each.items()}


def pause_is_over(execution: Execution, promise: Promise, now_s: float) -> bool:
    """Return whether the pause is over since it was ready, and since the last change."""
    since_s = execution.marks.get(Mark.READY, now_s)
    if promise.adjusted is not None and promise.adjusted.attempt == execution.attempt:
        since_s = max(since_s, promise.adjusted.at_s)
    return now_s - since_s >= max(PAUSE_S, PAUSE_SHARE * promise.terms.run_s)
