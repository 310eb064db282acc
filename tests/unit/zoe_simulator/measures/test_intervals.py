from __future__ import annotations

import math

import pytest

from zoe_simulator.measures.intervals import holm, mean_interval, ratio_interval, sign_flip_p, student_t


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


def test_all_signs_are_tried() -> None:
    assert sign_flip_p([1.0, 2.0, 3.0]) == 2 / 8, "only all of one sign are as large"
    assert sign_flip_p([1.0, -1.0]) == 1.0
    assert sign_flip_p([3.0, 3.0, 3.0, -1.0]) == 4 / 16, "and those in which only the least has the other sign"
    with pytest.raises(ValueError, match="17 differences"):
        sign_flip_p([1.0] * 17)


def test_holm_by_hand() -> None:
    """Of four: 0.01 times 4, 0.02 times 3, 0.03 times 2 which is not below the one before, 0.5."""
    assert holm([0.02, 0.5, 0.01, 0.03]) == pytest.approx([0.06, 0.5, 0.04, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []
