"""Processor sharing is emulated as it is defined."""

from __future__ import annotations

import math
import random

import pytest

from zoe_master.scheduler.ordering.virtual_time import ExecutionArrival, VirtualTime, virtual_time


def arrival(name: str, at_s: float, run_s: float, cores: int = 1) -> ExecutionArrival:
    return ExecutionArrival(name, at_s, run_s, cores * 1000)


def test_two_share_a_core_until_the_shorter_ends() -> None:
    emulated = VirtualTime(1000)
    emulated.arrive(arrival("long", 0.0, 10.0))
    emulated.arrive(arrival("short", 4.0, 3.0))
    assert emulated.next_end_s() == 10.0
    emulated.advance(9.9)
    assert not emulated.late("short")
    emulated.advance(10.0)
    assert (emulated.late("short"), emulated.late("long")) == (True, False)
    assert emulated.next_end_s() == 13.0
    emulated.advance(12.0)
    emulated.advance(5.0)
    assert emulated.next_end_s() == 13.0


def test_virtual_run_is_never_faster_than_alone_and_weighed_by_cores() -> None:
    alone = virtual_time([arrival("a", 0.0, 10.0)], 64_000, 0.0)
    assert alone.next_end_s() == 10.0
    crowded = virtual_time([arrival("wide", 0.0, 10.0, cores=6), arrival("thin", 0.0, 10.0, cores=2)], 4000, 0.0)
    assert crowded.next_end_s() == 20.0


def test_unknown_execution_is_never_late_and_an_empty_cluster_slows_none() -> None:
    emulated = virtual_time([arrival("a", 0.0, 10.0), arrival("b", 0.0, 10.0)], 0, 10.0)
    assert emulated.late("a")
    assert not emulated.late("stranger")
    assert emulated.end_lag_s("stranger") == math.inf


@pytest.mark.parametrize("seed", range(20))
def test_it_ends_everybody_when_a_simulation_in_small_steps_does(seed: int) -> None:
    chance = random.Random(seed)
    cores = chance.randint(1, 6)
    arrivals = [arrival(f"a{i}", chance.uniform(0, 20), chance.uniform(0.5, 8), chance.randint(1, 4)) for i in range(8)]
    step_s, now_s = 0.002, 0.0
    left = {arrival.execution_id: arrival.run_s for arrival in arrivals}
    ends: dict[str, float] = {}
    while left:
        present = [arrival for arrival in arrivals if arrival.at_s <= now_s and arrival.execution_id in left]
        pace = min(1.0, cores / max(sum(arrival.cores_milli / 1000 for arrival in present), 1))
        now_s += step_s
        for entry in present:
            left[entry.execution_id] -= step_s * pace
            if left[entry.execution_id] <= 0:
                ends[entry.execution_id] = now_s
                del left[entry.execution_id]
    for name, end_s in ends.items():
        assert not virtual_time(arrivals, cores * 1000, end_s - 0.1).late(name)
        assert virtual_time(arrivals, cores * 1000, end_s + 0.1).late(name)
