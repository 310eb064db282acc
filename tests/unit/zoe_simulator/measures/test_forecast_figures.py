"""How good forecasts were, by width: worked out by hand."""

from __future__ import annotations

import pytest

from zoe_master.scheduler.what_if.calibration import ForecastSpread
from zoe_simulator.measures.forecast_figures import forecast_figures
from zoe_simulator.trace import Foretold


def foretold(waited_s: float, processors: float, naive_s: float | None = 50.0) -> Foretold:
    """It was told 100 s, and 300 s at most."""
    return Foretold(ForecastSpread(100.0, 300.0, 20), waited_s, processors, naive_s)


def test_errors_and_coverage_are_those_of_each_width() -> None:
    made = [foretold(80.0, 1), foretold(200.0, 1), foretold(400.0, 1), foretold(100.0, 64), foretold(5.0, 64, None)]
    one, wide, everything = forecast_figures(made)["forecasts_by_width"]
    assert (one["processors"], wide["processors"], everything["processors"]) == ("1", ">32", "all")
    assert (one["mean_error_s"], one["naive_mean_error_s"]) == (140.0, pytest.approx((30 + 150 + 350) / 3))
    assert (one["median_error_s"], one["naive_median_error_s"]) == (100.0, 150.0)
    assert one["started_by_p50"] == {"share": pytest.approx(1 / 3), "low": None, "high": None}
    assert one["started_by_p90"]["share"] == pytest.approx(2 / 3)
    # Before anybody had waited nothing can be compared.
    assert (wide["forecasts"], wide["mean_error_s"], wide["naive_mean_error_s"]) == (2, 0.0, 50.0)
    assert everything["started_by_p90"]["share"] == 0.8


def test_jobs_that_are_wrong_together_count_as_one_batch() -> None:
    """Ten batches of ten hold and ten do not: half, give or take 2.093 times 0.513 over the root of twenty."""
    together = [foretold(80.0 if number // 10 % 2 else 400.0, 4) for number in range(200)]
    shown = forecast_figures(together)["forecasts_by_width"][0]["started_by_p90"]
    assert shown == {"share": 0.5, "low": pytest.approx(0.26, abs=0.001), "high": pytest.approx(0.74, abs=0.001)}
    apart = [foretold(80.0 if number % 2 else 400.0, 4) for number in range(200)]
    assert forecast_figures(apart)["forecasts_by_width"][0]["started_by_p90"]["low"] == 0.5
