"""The past times of a schedule that run."""

from __future__ import annotations

from typing import Any

import pytest

from zoe_client.vocabulary import ScheduleOutcome
from zoe_lib.domain.values.frozen import changed
from zoe_lib.schedules.values import Schedule, ScheduleRun
from zoe_lib.store.sql.batch.schedules import RUNS_KEPT
from zoe_lib.submission.backfilling import TIMES_MAX, Backfill, backfill_times, runs_between
from zoe_lib.submission.refusal import SubmissionRefused

HOUR = 3600.0
HOURLY = Schedule(
    id="s1", tenant="t", user="u", name="n", expression="0 * * * *", zone="UTC", application=None, version=None,
    document={}, parameters={}, options={}, missed="latest", overlap="skip", jitter_s=0.0, end_at_s=None, held=False,
    held_by_operator=False, due_s=None, next_at_s=None, planned_at_s=0.0, count=1, made_at_s=0.0,
)  # fmt: skip


def times(runs: Any = (), **wanted: Any) -> list[float]:
    given = {"from_s": 0.0, "to_s": 4 * HOUR, **wanted}
    found = backfill_times(HOURLY, Backfill(**given), 1000 * HOUR, runs)
    return [value / HOUR for value in found]


def run(hour: float, outcome: ScheduleOutcome) -> ScheduleRun:
    return ScheduleRun("s1", hour * HOUR, 0.0, outcome)


def test_all_times_between_both_ends_run_the_oldest_or_the_newest_first() -> None:
    assert times() == [0, 1, 2, 3, 4]
    assert times(from_s=1.0, to_s=3 * HOUR, newest_first=True) == [3, 2, 1]


def test_backfill_repeats_missed_runs_but_not_made_ones() -> None:
    runs = [run(0, ScheduleOutcome.MADE), run(1, ScheduleOutcome.BACKFILLED), run(2, ScheduleOutcome.SKIPPED),
            run(3, ScheduleOutcome.MISSED), run(4, ScheduleOutcome.REFUSED),
            ScheduleRun("s1", None, 0.0, ScheduleOutcome.MADE)]  # fmt: skip
    assert times(runs) == [2, 3, 4]


def test_times_of_named_runs_run_again() -> None:
    runs = [changed(run(hour, ScheduleOutcome.BACKFILLED), run_id=f"x{hour}") for hour in range(5)]
    assert times(runs, again=frozenset({"x1", "x3"})) == [1, 3]
    assert [run.run_id for run in runs_between(HOUR, 2 * HOUR, runs)] == ["x1", "x2"]


def test_a_request_has_a_bound_and_no_future() -> None:
    assert len(times(to_s=(TIMES_MAX - 1) * HOUR)) == TIMES_MAX
    with pytest.raises(SubmissionRefused, match="more than 100 times"):
        times(to_s=TIMES_MAX * HOUR)
    with pytest.raises(SubmissionRefused, match="before the beginning"):
        times(from_s=2 * HOUR, to_s=HOUR)
    with pytest.raises(SubmissionRefused, match="in the future"):
        times(to_s=1000 * HOUR + 1)


def test_forgotten_runs_are_not_repeated() -> None:
    runs = [run(2 + number, ScheduleOutcome.MADE) for number in range(RUNS_KEPT)]
    assert times(runs, from_s=2 * HOUR) == []
    with pytest.raises(SubmissionRefused, match="not known any more"):
        times(runs)
    assert times([changed(run, due_s=None) for run in runs]) == [0, 1, 2, 3, 4]  # by hand
