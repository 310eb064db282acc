"""Rates are shown in a unit in which they are not zero."""

from __future__ import annotations

import pytest

from zoe_cli.units import rate


@pytest.mark.parametrize(
    ("bytes_per_s", "shown"),
    [
        (0, "0 MB/s"),
        (1, "1 B/s"),
        (0.2, "0 MB/s"),
        (999, "999 B/s"),
        (1_500, "1.5 kB/s"),
        (999_400, "999.4 kB/s"),
        (999_900, "1 MB/s"),
        (1e6, "1 MB/s"),
        (42_500_000, "42.5 MB/s"),
    ],
)
def test_a_rate_has_a_fitting_unit(bytes_per_s: float, shown: str) -> None:
    assert rate(bytes_per_s) == shown
