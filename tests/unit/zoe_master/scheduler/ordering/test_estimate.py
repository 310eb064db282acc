"""Corrections of exceeded run times, and the ends that backfill expects."""

from __future__ import annotations

import math

import pytest

from tests.support.applications import application, component, execution
from zoe_lib.domain.executions.execution import ExecutionState, Mark
from zoe_lib.domain.values.frozen import changed
from zoe_lib.run_times.samples import run_key
from zoe_master.scheduler.ordering.estimate import Estimates, EstimateSource, RunTime, corrected_s


@pytest.mark.parametrize(
    ("ran_s", "limit_s", "expected_s"),
    [
        (0.0, math.inf, 100.0),
        (100.0, math.inf, 100.0),  # it may end this very moment
        (101.0, math.inf, 160.0),  # a minute more
        (160.0, math.inf, 160.0),
        (161.0, math.inf, 460.0),  # then five
        (461.0, math.inf, 1360.0),  # then fifteen
        (161.0, 300.0, 300.0),  # never beyond the limit
        (500.0, 300.0, 300.0),
        (679_961.0, math.inf, 1_039_960.0),  # all eleven are 679,860 s; then 100 h at a time
        (1_039_961.0, math.inf, 1_399_960.0),
    ],
)
def test_corrections_grow_up_to_the_limit(ran_s: float, limit_s: float, expected_s: float) -> None:
    assert corrected_s(100.0, ran_s, limit_s) == expected_s


@pytest.mark.parametrize("learned_s", [math.nan, math.inf, -1.0])
def test_learned_run_time_that_is_no_number_counts_as_none(learned_s: float) -> None:
    one = execution(1, application=changed(application(component("worker", 1)), time_limit_s=50.0))
    assert Estimates({run_key(one): learned_s}).run_time(one) == RunTime(50.0, EstimateSource.TIME_LIMIT)
    assert Estimates({run_key(one): 5.0}).run_time(one) == RunTime(5.0, EstimateSource.PAST_RUNS)


@pytest.mark.parametrize(
    ("now_s", "limit_s", "ends_s"),
    [
        (10.0, None, 150.0),  # half as long again as expected
        (150.0, None, 150.0),
        (250.0, None, 350.0),  # late by 100 s: as long again, and not now
        (250.0, 300.0, 300.0),
        (10.0, 120.0, 120.0),
    ],
)
def test_overdue_execution_is_not_expected_to_end_now(now_s: float, limit_s: float | None, ends_s: float) -> None:
    work = changed(application(component("worker", 1)), expected_run_s=100.0, time_limit_s=limit_s)
    running = execution(1, application=work, state=ExecutionState.RUNNING, marks={Mark.PLACED: 0.0})
    assert Estimates({}).cautious_end_s(running, now_s, 1.5) == ends_s
