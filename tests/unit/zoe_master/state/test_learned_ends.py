"""The end in a plan, of a waiting and of a running execution comes from one run time: declared, else learned."""

from __future__ import annotations

import math
from dataclasses import replace

from tests.support.scheduling import component, queued, started
from zoe_lib.domain.values.forecast import Forecast
from zoe_master.scheduler.ordering.estimate import EstimateSource, RunTime
from zoe_master.state.expected_ends import (
    EndForecast,
    end_by_learned,
    placed_forecast,
    present_choice,
    with_learned_end,
)
from zoe_master.state.forecasts import ForecastRecord
from zoe_master.state.run_times import RunTimeChoice

DECLARED = EndForecast(100.0, EstimateSource.DECLARED, 1100.0, 1300.0)
KNOWN = EndForecast(100.0, EstimateSource.PAST_RUNS, 1100.0, 1300.0)
LEARNED = RunTimeChoice(elastic=2, cores=3.0, p50_s=4.0, p90_s=5.0, samples=9, wide=False)


def test_without_runs_the_end_stays_as_it_was() -> None:
    assert end_by_learned(KNOWN, None, None, 1000.0) == KNOWN


def test_execution_that_starts_now_ends_after_the_learned_run_time() -> None:
    expected = EndForecast(4.0, EstimateSource.PAST_RUNS, 1004.0, 1005.0)
    assert end_by_learned(KNOWN, LEARNED, None, 1000.0) == expected


def test_waiting_execution_ends_a_run_time_after_its_start() -> None:
    start = Forecast(1000.0, 10.0, 100.0, start_p50_s=1010.0, start_p90_s=1050.0)
    expected = EndForecast(4.0, EstimateSource.PAST_RUNS, 1014.0, 1055.0)
    assert end_by_learned(KNOWN, LEARNED, start, None) == expected
    unknown = Forecast(1000.0, None, None)
    assert end_by_learned(KNOWN, LEARNED, unknown, None) == EndForecast(4.0, EstimateSource.PAST_RUNS)
    assert end_by_learned(KNOWN, LEARNED, None, None) == EndForecast(4.0, EstimateSource.PAST_RUNS)


def test_a_declared_run_time_comes_before_a_learned_one() -> None:
    assert end_by_learned(DECLARED, LEARNED, None, 1000.0) == DECLARED


def test_a_waiting_execution_has_the_end_of_its_plan() -> None:
    start = Forecast(1000.0, 10.0, 100.0, 1010.0, 1050.0, 1110.0, 1350.0)
    learned = with_learned_end(start, EstimateSource.PAST_RUNS, LEARNED)
    assert (learned.end_p50_s, learned.end_p90_s) == (1014.0, 1055.0)
    assert with_learned_end(start, EstimateSource.DECLARED, LEARNED) == start
    assert with_learned_end(start, EstimateSource.PAST_RUNS, None) == start


def test_a_running_execution_has_an_end() -> None:
    running, record = started(queued("e", time_limit_s=300.0), "n1"), ForecastRecord()  # placed at 1 s

    def ends(now_s: float, known: RunTime, learned: RunTimeChoice | None = None) -> tuple[float | None, float | None]:
        found = placed_forecast(running, known, record, learned, now_s)
        return found.end_p50_s, found.end_p90_s

    past, declared = RunTime(10.0, EstimateSource.PAST_RUNS), RunTime(50.0, EstimateSource.DECLARED)
    assert ends(2.0, past, LEARNED) == (5.0, 6.0)
    assert ends(9.0, past, LEARNED) == (13.0, 13.0)  # 4 s beyond the first: as much again
    assert ends(2.0, declared, LEARNED)[0] == 51.0
    assert ends(2.0, RunTime(290.0, EstimateSource.DECLARED))[1] == 301.0  # its time limit
    assert ends(2.0, RunTime(math.inf, EstimateSource.UNKNOWN)) == (None, None)


def test_fewer_instances_take_their_own_learned_run_time() -> None:
    worker = component(essential_count=1, total_count=4)
    choices = [replace(LEARNED, elastic=elastic, p50_s=9.0 - elastic) for elastic in (0, 1, 2, 3)]
    assert present_choice(started(queued("e", worker), "n1", "n1"), choices) == choices[1]
    assert present_choice(queued("e", worker), choices) == choices[3]
    assert present_choice(queued("e", worker), ()) is None
