"""Resolution of a span of time."""

from __future__ import annotations

import pytest

from zoe_api.billing.spans import stretch_of


@pytest.mark.parametrize(
    ("from_s", "to_s", "stretch_s"),
    [(0, 0, 30), (10, 0, 30), (0, 3600, 30), (0, 3601, 3601 / 120), (100, 12100, 100)],
)
def test_a_stretch_is_a_small_part_and_never_shorter_than_half_a_minute(
    from_s: float, to_s: float, stretch_s: float
) -> None:
    assert stretch_of(from_s, to_s) == stretch_s
