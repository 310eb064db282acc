"""Idle limits after a change of the policy."""

from __future__ import annotations

import pytest

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.lifecycle.idleness import counts_anew


@pytest.mark.parametrize(
    ("before", "after", "anew"),
    [
        ((0.0, 100), (3600.0, 100), True),  # switched on
        ((3600.0, 0), (3600.0, 100), True),  # computing counts from now on
        ((3600.0, 100), (3600.0, 50), True),  # less of it counts
        ((3600.0, 100), (600.0, 100), False),
        ((3600.0, 100), (3600.0, 200), False),
        ((3600.0, 100), (3600.0, 0), False),
        ((3600.0, 100), (0.0, 50), False),
    ],
)
def test_idle_times_count_anew_if_uses_were_not_recorded_before(
    before: tuple[float, int], after: tuple[float, int], anew: bool
) -> None:
    policies = [Policy(idle_after_s=after_s, idle_cores_milli=cores_milli) for after_s, cores_milli in (before, after)]
    assert counts_anew(*policies) is anew
