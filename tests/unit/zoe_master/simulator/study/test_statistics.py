from __future__ import annotations

import math

import pytest

from zoe_master.simulator.study.statistics import mean_interval, ratio_interval, student_t


@pytest.mark.parametrize(("freedom", "quantile"), [(3, 3.182), (9, 2.262), (19, 2.093), (29, 2.045), (1000, 1.962)])
def test_quantiles_are_those_of_the_tables(freedom: int, quantile: float) -> None:
    assert student_t(freedom) == pytest.approx(quantile, rel=0.01)


def test_the_mean_with_its_interval() -> None:
    interval = mean_interval([1.0, 2.0, 3.0, 4.0])
    assert interval.middle == 2.5
    assert interval.high - 2.5 == pytest.approx(3.182 * math.sqrt(5 / 3) / 2, rel=0.01)
    assert mean_interval([7.0]).low == 7.0


def test_pairs_that_all_have_one_ratio_leave_no_doubt() -> None:
    interval = ratio_interval([(2.0, 4.0), (50.0, 100.0), (1.0, 2.0)])
    assert (interval.middle, interval.low, interval.high) == pytest.approx((0.5, 0.5, 0.5))
