"""Corrections of run times that were outlasted, and what backfill expects by them."""

from __future__ import annotations

import math

import pytest

from zoe_master.scheduler.ordering.estimate import corrected_s
from zoe_master.scheduler.ordering.run_history import RecentRunTimes


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


def test_kinds_without_enough_runs_are_unknown() -> None:
    runs, kind = RecentRunTimes(), ("tenant", "user", "application")
    found = []
    for ran_s in (100.0, 20.0, 40.0):
        found.append((runs.expected(kind), runs.expected(kind, least=2)))
        runs.learn(kind, ran_s)
    assert found == [(None, None), (100.0, None), (60.0, 60.0)]
    assert runs.expected(kind) == 30.0
