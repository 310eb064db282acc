"""The optimum is known by its conditions (Karush, Kuhn and Tucker), whatever found it."""

from __future__ import annotations

import random

import pytest

from zoe_lib.run_times.least_squares import non_negative


@pytest.mark.parametrize("seed", range(200))
def test_no_coefficient_can_be_moved_to_less_error(seed: int) -> None:
    draw = random.Random(seed)
    width, height = draw.randint(1, 4), draw.randint(1, 20)
    rows = [tuple(draw.choice([0.0, 1.0, draw.uniform(0, 5)]) for _ in range(width)) for _ in range(height)]
    values = [draw.uniform(-2, 10) for _ in range(height)]
    weights = [draw.uniform(0.01, 2) for _ in range(height)]
    found = non_negative(rows, values, weights)
    left = [
        sum(c * x for c, x in zip(found, row, strict=True)) - value for row, value in zip(rows, values, strict=True)
    ]
    slopes = [sum(w * row[i] * e for row, w, e in zip(rows, weights, left, strict=True)) for i in range(width)]
    for coefficient, slope in zip(found, slopes, strict=True):
        assert coefficient >= 0
        assert slope >= -1e-6, "it should be larger"
        assert coefficient == 0 or abs(slope) < 1e-6, "it should be another"


def test_terms_that_cannot_be_told_apart_share_nothing() -> None:
    found = non_negative([(1.0, 2.0), (2.0, 4.0)], [3.0, 6.0], [1.0, 1.0])
    assert found[0] + 2 * found[1] == pytest.approx(3.0)


def test_negative_optimum_becomes_zero() -> None:
    assert non_negative([(1.0,), (1.0,)], [-1.0, -2.0], [1.0, 1.0]) == (0.0,)
