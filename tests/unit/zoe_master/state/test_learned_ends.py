"""The end in a plan uses the same run time as its choices."""

from __future__ import annotations

from zoe_lib.domain.values.forecast import Forecast
from zoe_master.scheduler.ordering.estimate import EstimateSource
from zoe_master.state.forecasts import EndForecast, end_by_learned
from zoe_master.state.run_times import RunTimeChoice

DECLARED = EndForecast(100.0, EstimateSource.DECLARED, 1100.0, 1300.0)
LEARNED = RunTimeChoice(elastic=2, cores=3.0, p50_s=4.0, p90_s=5.0, samples=9, wide=False)


def test_without_runs_the_end_stays_as_it_was() -> None:
    assert end_by_learned(DECLARED, None, None, 1000.0) == DECLARED


def test_execution_that_starts_now_ends_after_the_learned_run_time() -> None:
    expected = EndForecast(4.0, EstimateSource.PAST_RUNS, 1004.0, 1005.0)
    assert end_by_learned(DECLARED, LEARNED, None, 1000.0) == expected


def test_waiting_execution_ends_a_run_time_after_its_start() -> None:
    start = Forecast(1000.0, 10.0, 100.0, start_p50_s=1010.0, start_p90_s=1050.0)
    expected = EndForecast(4.0, EstimateSource.PAST_RUNS, 1014.0, 1055.0)
    assert end_by_learned(DECLARED, LEARNED, start, None) == expected
    unknown = Forecast(1000.0, None, None)
    assert end_by_learned(DECLARED, LEARNED, unknown, None) == EndForecast(4.0, EstimateSource.PAST_RUNS)
    assert end_by_learned(DECLARED, LEARNED, None, None) == EndForecast(4.0, EstimateSource.PAST_RUNS)
