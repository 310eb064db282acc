"""The rate of the object store that a running promised execution needs for its time. Pure.

A late one that has all services of its promise, and gets faster with a higher rate, gets a free one; it returns it once
the promised rate is enough again. It converges like `adjusting.py`: by a dead band, and by a pause between changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from zoe_lib.domain.executions.execution import Execution, ExecutionState, Mark
from zoe_lib.domain.values.finish_times import Promise
from zoe_lib.domain.values.progress import ExecutionProgress, remaining_s
from zoe_master.scheduler.promising.adjusting import DONE_LEAST, EARLY, LATE, pause_is_over

ENOUGH = 0.8
"""A higher rate is enough if the execution then needs at most this share of the time left."""
_HELPS = 0.95
"""An insufficient rate is held only if the execution then needs at most this share of its present need."""


def raised_rate(
    execution: Execution,
    left_s: float | None,
    takes_s: Callable[[int], float | None],
    rates: Iterable[int],
    now_s: float,
) -> int | None:
    """Return the bytes per second to guarantee; None: no change.

    left_s: the remaining time at present; None: unknown, so nothing changes. takes_s: the time of a whole run at a
    rate; None: unknown. rates: the available ones.
    """
    promise = execution.promise
    if promise is None or execution.state is not ExecutionState.RUNNING:
        return None
    promised, now = promise.terms.read_bytes_per_s, promise.rate(execution.attempt)
    if not promised or not now:
        return None
    if Mark.STORAGE_WITHDRAWN in execution.marks:  # the store does not guarantee this much
        return promised if now > promised else None
    there_is_s = promise.terms.finish_s - now_s
    if left_s is None or there_is_s <= 0 or not pause_is_over(execution, promise, now_s):
        return None
    needs_s = {rate: left_s * value / present for rate, value, present in _times(takes_s, now, [promised, now, *rates])}
    if now > promised and needs_s.get(promised, left_s) <= EARLY * there_is_s:
        return promised
    higher = {rate: value for rate, value in needs_s.items() if rate > now}
    return _least_enough(higher, left_s, there_is_s) if left_s > LATE * there_is_s else None


def _times(
    takes_s: Callable[[int], float | None], now: int, rates: Iterable[int]
) -> Iterator[tuple[int, float, float]]:
    """Yield each rate with the time of a whole run at it and at the present rate, where both are known."""
    present_s = takes_s(now)
    for rate in rates:
        one_s = takes_s(rate)
        if present_s and one_s:
            yield rate, one_s, present_s


def _least_enough(needs_s: Mapping[int, float], left_s: float, there_is_s: float) -> int | None:
    """Return the lowest sufficient rate, else the quickest if it helps."""
    enough = [rate for rate, value in needs_s.items() if value <= ENOUGH * there_is_s]
    if enough:
        return min(enough)
    quickest = min(needs_s, key=lambda rate: (needs_s[rate], rate), default=None)
    return quickest if quickest is not None and needs_s[quickest] <= _HELPS * left_s else None


def rest_s(execution: Execution, progress: ExecutionProgress | None, now_s: float) -> float | None:
    """Return the remaining time: the slower quartile of its readings at the present rate; None if unknown."""
    promise = execution.promise
    if promise is None or progress is None or progress.attempt != execution.attempt:
        return None
    left = remaining_s(
        [reading for reading in progress.readings if reading.at_s >= changed_at_s(execution, promise)], now_s
    )
    return None if left is None or (progress.share or 0.0) < DONE_LEAST else left.high_s


def changed_at_s(execution: Execution, promise: Promise) -> float:
    """Return the time since which its guarantees are the present ones."""
    adjusted = promise.adjusted
    return adjusted.at_s if adjusted is not None and adjusted.attempt == execution.attempt else 0.0
