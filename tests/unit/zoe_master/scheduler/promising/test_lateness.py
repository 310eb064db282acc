"""Runs longer than usual are expected to end later, but not reported late before most of their time has passed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from random import Random

import pytest

from zoe_lib.run_times.spread import CHANCES
from zoe_master.scheduler.promising.choices import total_s
from zoe_master.scheduler.promising.lateness import median_beyond

Takes = Sequence[tuple[float, float]]
TOLD: tuple[Takes, ...] = (
    tuple(zip(CHANCES, (100.0, 120.0, 130.0, 145.0, 160.0), strict=True)),
    tuple(zip(CHANCES, (100.0, 200.0, 300.0, 400.0, 800.0), strict=True)),  # the rule of thumb
    tuple(zip(CHANCES, (3.0, 3.1, 3.2, 4.0, 64.0), strict=True)),
    tuple(zip(CHANCES, (1000.0, 1000.0, 1000.0, 1000.0, 1000.0), strict=True)),  # the declared run time
)


@pytest.mark.parametrize(
    ("ran_s", "expected_s"), [(0.0, 100.0), (79.0, 100.0), (100.0, 117.3), (130.0, 145.0), (200.0, 250.0)]
)
def test_the_longer_it_has_run_the_later_it_is_expected_to_end(ran_s: float, expected_s: float) -> None:
    assert median_beyond(TOLD[0], ran_s) == pytest.approx(expected_s, rel=0.01)


def test_a_long_tail_does_not_make_a_run_late_that_has_just_begun() -> None:
    """Most runs take 3 s, a few up to a minute: after 4 s, it is not expected to take many times as long."""
    assert median_beyond(TOLD[2], 3.15) < 4.0
    assert median_beyond(TOLD[2], 4.0) == pytest.approx(5.0)


@pytest.mark.parametrize("takes", TOLD)
def test_it_never_falls_while_a_run_goes_on(takes: Takes) -> None:
    ran = [takes[0][1] * 1.01**number for number in range(-200, 600)]
    told = [median_beyond(takes, value) for value in ran]
    assert all(before <= after + 1e-9 for before, after in pairwise(told))
    assert all(expected >= value for value, expected in zip(ran, told, strict=True))


@pytest.mark.parametrize("takes", TOLD[:3])
@pytest.mark.parametrize("confidence", CHANCES[:4])
def test_an_alarm_is_right_in_half_of_the_cases_and_rare_before_the_time_is_used_up(
    takes: Takes, confidence: float
) -> None:
    """Runs are drawn from the assumed distribution. Each begins as late as its promise allows, and is checked all the
    time.
    """
    rng, runs = Random(f"{takes}{confidence}"), 2000
    finish_s = total_s(dict(takes)[confidence])
    alarm_s = _alarm_s(takes, finish_s)
    took = [drawn(takes, rng) for _ in range(runs)]
    alarmed = [value for value in took if value > alarm_s]
    late = sum(value > finish_s for value in alarmed)
    assert late == sum(value > finish_s for value in took)  # each broken one is announced before
    assert late >= 0.5 * len(alarmed) - 3 * math.sqrt(len(alarmed)) / 2
    assert alarm_s >= 0.79 * finish_s
    assert len(alarmed) - late <= (1 - confidence) * runs + 3 * math.sqrt(runs) / 2


def _alarm_s(takes: Takes, finish_s: float) -> float:
    """Return after which time a run is first expected to end too late."""
    times = (finish_s * number / 1000 for number in range(1001))
    return next(time_ for time_ in times if median_beyond(takes, time_) > finish_s)


def drawn(takes: Takes, rng: Random) -> float:
    """Return a run time of the assumed distribution: even in factors between the times for two chances."""
    points = [(0.0, 0.8 * takes[0][1]), *takes, (1.0, 2 * takes[-1][1])]
    chance = rng.random()
    for (low, fast), (high, slow) in pairwise(points):
        if chance <= high:
            return float(fast * (slow / fast) ** ((chance - low) / (high - low)))
    raise AssertionError("the last chance is 1")
