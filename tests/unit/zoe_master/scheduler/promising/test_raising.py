"""Late readers get the free bandwidth that they need, return it, and it converges."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from tests.unit.zoe_master.scheduler.promising.test_adjusting import RUN_S, promise, running, told
from zoe_lib.domain.executions.execution import Execution, ExecutionState, Mark
from zoe_lib.domain.values.finish_times import FinishTerms, Promise, PromiseAdjustment
from zoe_lib.domain.values.progress import ExecutionProgress, ProgressHistory, ProgressReading
from zoe_master.scheduler.promising.adjusting import PAUSE_S, PAUSE_SHARE
from zoe_master.scheduler.promising.raising import raised_rate, rest_s

MB = 1_000_000
RATES = [entry * MB for entry in (5, 10, 20, 40, 80)]
TERMS = FinishTerms(1000.0, 0.9, 8, RUN_S, 0.0, read_bytes_per_s=10 * MB)


def reads(rate: int) -> float:
    """Return a run that reads 8,000 MB and computes for 150 s beside."""
    return max(8000 * MB / rate, 150.0)


def reading(adjusted: PromiseAdjustment | None = None) -> Execution:
    return running(promise(terms=TERMS, adjusted=adjusted))


RAISED = PromiseAdjustment(8, 1, 300.0, 40 * MB)


@pytest.mark.parametrize(
    ("left_s", "at_s", "rates", "expected"),
    [
        (450.0, 500.0, RATES, None),  # just in time
        (460.0, 500.0, RATES, 20 * MB),  # half of that is enough
        (900.0, 500.0, RATES, 40 * MB),
        (900.0, 500.0, RATES[:3], 20 * MB),  # not enough, but better
        (900.0, 500.0, RATES[:2], None),  # nothing is free
        (900.0, 500.0, [11 * MB], 11 * MB),
        (900.0, 500.0, [10 * MB + 1], None),  # that does not help
        (None, 500.0, RATES, None),
        (900.0, 20.0, RATES, None),  # ready only just now
        (900.0, 1000.0, RATES, None),  # it is broken
    ],
)
def test_a_late_one_gets_the_lowest_rate_that_is_enough(
    left_s: float | None, at_s: float, rates: list[int], expected: int | None
) -> None:
    assert raised_rate(reading(), left_s, reads, rates, at_s) == expected


def test_rate_is_not_raised_without_a_gain() -> None:
    assert raised_rate(reading(), 900.0, lambda _: 200.0, RATES, 500.0) is None
    assert raised_rate(reading(), 900.0, lambda _: None, RATES, 500.0) is None


@pytest.mark.parametrize(
    ("left_s", "expected"),
    [
        (80.0, 10 * MB),  # 320 s at the promised rate, and there are 500
        (90.0, None),  # 360 s: it could, but not surely
        (440.0, None),
        (460.0, 80 * MB),
    ],
)
def test_raised_rate_is_returned_with_a_dead_band(left_s: float, expected: int | None) -> None:
    assert raised_rate(reading(RAISED), left_s, reads, RATES, 500.0) == expected


def test_pauses_are_kept_and_a_withdrawn_guarantee_is_lowered_at_once() -> None:
    assert raised_rate(reading(RAISED), 900.0, reads, RATES, 350.0) is None
    withdrawn = {Mark.PLACED: 0.0, Mark.READY: 0.0, Mark.STORAGE_WITHDRAWN: 301.0}
    assert raised_rate(replace(reading(RAISED), marks=withdrawn), 900.0, reads, RATES, 302.0) == 10 * MB
    assert raised_rate(replace(reading(), marks=withdrawn), 900.0, reads, RATES, 500.0) is None


def test_rate_is_not_raised_without_a_rate_or_a_running_service() -> None:
    assert raised_rate(running(promise()), 900.0, reads, RATES, 500.0) is None
    assert raised_rate(replace(reading(), state=ExecutionState.STARTING), 900.0, reads, RATES, 500.0) is None
    of_the_attempt_before = replace(RAISED, attempt=2)
    assert reading(of_the_attempt_before).promise is not None
    assert raised_rate(reading(of_the_attempt_before), 80.0, reads, RATES, 500.0) is None


def test_the_pace_is_that_since_the_rate_is_what_it_is() -> None:
    slow = tuple(ProgressReading(5.0 * n, 0.001 * 5.0 * n) for n in range(1, 61))
    fast = tuple(ProgressReading(300.0 + 5.0 * n, 0.3 + 0.004 * 5.0 * n) for n in range(1, 9))
    both = ExecutionProgress("x", 1, 340.0, slow + fast)
    before, after = rest_s(reading(), both, 340.0), rest_s(reading(RAISED), both, 340.0)
    assert before is not None
    assert after is not None
    assert after == pytest.approx(0.54 / 0.004, rel=0.05)
    assert before > 1.5 * after
    assert rest_s(reading(), told(150.0, 1 / 1000), 150.0) is None, "a seventh says little of the rest"


@pytest.mark.parametrize("seed", range(20))
def test_it_comes_to_rest_and_ends_in_time_where_it_would_not(seed: int) -> None:
    """A run reads up to 1.6 times the expected amount, at a pace that varies by a tenth, of a store with 80 MB/s
    free.
    """
    drawn = random.Random(seed)
    size = drawn.uniform(1.25, 1.6) * 8000 * MB

    def ended(*, adjusts: bool) -> tuple[float, list[PromiseAdjustment]]:
        state: Promise = promise(terms=TERMS)
        changes: list[PromiseAdjustment] = []
        history, done, now_s = ProgressHistory(), 0.0, 0.0
        while done < size:
            now_s += 5.0
            done += 5.0 * (state.rate(1) or 0) * drawn.uniform(0.9, 1.1)
            history.take(ProgressReading(now_s, min(done / size, 1.0)))
            one = running(state)
            left_s = rest_s(one, ExecutionProgress("x", 1, now_s, history.readings), now_s)
            rate = raised_rate(one, left_s, reads, RATES, now_s) if adjusts else None
            if rate is not None:
                changes.append(PromiseAdjustment(8, 1, now_s, rate))
                state = replace(state, adjusted=changes[-1])
        return now_s, changes

    assert ended(adjusts=False)[0] > 1000.0 or size < 10_000 * MB
    in_s, changes = ended(adjusts=True)
    assert in_s <= 1000.0
    assert 1 <= len(changes) <= 4
    pauses = [after.at_s - before.at_s for before, after in pairwise(changes)]
    assert all(pause >= max(PAUSE_S, PAUSE_SHARE * RUN_S) for pause in pauses)
