"""Sizes count the resource with the largest requested share of the cluster."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.support.checks import CHECKS
from tests.support.scheduling import GIB, component, node, queued
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.values.resources import Resources, total
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.capacity import capacity_of, dominant_cores
from zoe_master.scheduler.ordering.estimate import Estimates
from zoe_master.scheduler.ordering.orders import QueueContext, size
from zoe_master.scheduler.ordering.queue import Pass, queue_sequence
from zoe_master.scheduler.ordering.ranking import QueueRanking
from zoe_master.scheduler.ordering.snapshot import Snapshot

SIZE = Policy(order="size", ageing_s=0.0)
NODES = (node("a", cores=8, memory_gib=32, devices={"gpu": 2}), node("b", cores=8, memory_gib=32))


@pytest.mark.parametrize(
    ("wanted", "cores"),
    [
        (Resources(2_000, 1 * GIB), 2_000),  # an eighth of the cores, a 64th of the memory
        (Resources(1_000, 16 * GIB), 4_000),  # a quarter of the memory is a quarter of 16 cores
        (Resources(1_000, 0, {"gpu": 1}), 8_000),  # half of the GPUs
        (Resources(1_000, 0, {"fpga": 1}), 1_000),  # there are none
        (Resources(), 1),
    ],
)
def test_the_largest_share_counts_in_cores(wanted: Resources, cores: float) -> None:
    assert dominant_cores(wanted, capacity_of(NODES)) == cores


def test_without_a_known_capacity_cores_alone_count() -> None:
    assert dominant_cores(Resources(1_000, 99 * GIB, {"gpu": 9}), Resources()) == 1_000


def test_size_is_run_time_times_the_largest_share() -> None:
    now = QueueContext(0.0, SIZE, Estimates({}), capacity=capacity_of(NODES))
    assert size(queued("a", component(cores=1, memory_gib=16), expected_run_s=10.0), now) == 40.0
    assert size(queued("a", component(cores=4, memory_gib=16), expected_run_s=10.0), now) == 40.0


def test_one_that_takes_most_of_the_memory_is_not_small() -> None:
    hoarder = queued("hoarder", component(cores=1, memory_gib=30), at_s=0, expected_run_s=100.0)
    plain = queued("plain", component(cores=2, memory_gib=4), at_s=1, expected_run_s=100.0)
    plan = schedule(Snapshot(10.0, (node("n", cores=8, memory_gib=32),), (hoarder, plain)), SIZE)
    assert list(plan.starts) == ["plain"]


def test_foreign_use_and_down_nodes_change_no_size() -> None:
    changed = tuple(replace(node, foreign=Resources(7_000, 30 * GIB), ready=False) for node in NODES)
    assert capacity_of(changed) == capacity_of(NODES)


def test_a_kept_sequence_is_ranked_anew_when_the_cluster_has_changed() -> None:
    hoarder = queued("hoarder", component(cores=1, memory_gib=16), expected_run_s=10.0)
    wide = queued("wide", component(cores=3, memory_gib=1), expected_run_s=10.0)
    small, large = (node("n", cores=16, memory_gib=64),), (node("n", cores=16, memory_gib=640),)
    kept = QueueRanking(SIZE, {}, [hoarder, wide], capacity_of(small)).snapshot()
    assert [e.id for e in kept] == ["wide", "hoarder"]
    assert queue_sequence(Pass.from_snapshot(Snapshot(1.0, small, kept), SIZE)) is kept
    assert [e.id for e in queue_sequence(Pass.from_snapshot(Snapshot(1.0, large, kept), SIZE))] == ["hoarder", "wide"]


def test_for_any_cluster_asking_for_more_of_anything_is_never_smaller() -> None:
    chance = random.Random(5)
    for _ in range(CHECKS // 10):
        nodes = [node(f"n{i}", chance.randint(1, 9), chance.randint(1, 9), devices={"gpu": i}) for i in range(3)]
        capacity = capacity_of(nodes)
        assert capacity == total(node.total for node in nodes)
        one, more = (_wanted(chance) for _ in range(2))
        shares = [one.cores_milli / capacity.cores_milli, one.memory_bytes / capacity.memory_bytes]
        shares.append(one.devices["gpu"] / 3)
        expected = max(max(shares) * capacity.cores_milli, 1.0)
        assert dominant_cores(one, capacity) == pytest.approx(expected)
        assert dominant_cores(one + more, capacity) >= dominant_cores(one, capacity)


def _wanted(chance: random.Random) -> Resources:
    return Resources(chance.choice([0, 500, 9_000]), chance.choice([0, 1, 5 * GIB]), {"gpu": chance.randint(0, 3)})
