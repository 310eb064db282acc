"""Each execution reserves the earliest room that delays no earlier one."""

from __future__ import annotations

import math
import random

import pytest

from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.what_if.reserved_wait import Reservations


def cores(count: int) -> Resources:
    return Resources(count * 1000)


def test_a_short_one_goes_into_the_gap_before_a_wide_one_and_a_long_one_behind_it() -> None:
    reservations = Reservations(cores(2), [(100.0, cores(2)), (math.inf, cores(9))], 0.0)
    assert reservations.reserve(cores(4), 50.0) == 100.0
    assert reservations.reserve(cores(1), 100.0) == 0.0
    assert reservations.reserve(cores(1), 101.0) == 150.0
    assert reservations.reserve(cores(5), 1.0) == math.inf


@pytest.mark.parametrize("seed", range(50))
def test_begins_are_the_earliest_there_are(seed: int) -> None:
    """Compared with an examination of every second."""
    chance = random.Random(seed)
    ends = [(float(chance.randint(1, 20)), cores(chance.randint(1, 3))) for _ in range(3)]
    free = [2 + sum(a.cores_milli // 1000 for at_s, a in ends if at_s <= second) for second in range(400)]
    reservations = Reservations(cores(2), ends, 0.0)
    for _ in range(8):
        wanted, run_s = chance.randint(1, 2 + len(ends)), chance.randint(1, 12)
        begins = (t for t in range(300) if all(free[s] >= wanted for s in range(t, t + run_s)))
        begin = next(begins, None)
        assert reservations.reserve(cores(wanted), float(run_s)) == (math.inf if begin is None else float(begin))
        for second in range(begin, begin + run_s) if begin is not None else ():
            free[second] -= wanted
