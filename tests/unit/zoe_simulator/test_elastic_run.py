"""Elastic applications through the production master, with times that can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import Guarantee
from zoe_simulator.elastic_run import ElasticRun
from zoe_simulator.stores.shared_store import StoreSize
from zoe_simulator.stores.store_use import StoreUse
from zoe_simulator.workload import GIB, Arrival, Reading, arrivals, machines

ONE_CORE = Resources(1000, GIB)
FOUR_CORES = [Node("n", Resources(4000, 16 * GIB))]


def arrival(number: int, submit_s: float, run_s: float, core: int, total: int) -> Arrival:
    return Arrival(number, submit_s, run_s, run_s, core, total, ONE_CORE, "t", 1e9)


def ends(run: ElasticRun) -> dict[int, float]:
    return {finished.arrival.number: finished.end_s for finished in run.run()}


def test_with_half_of_its_components_it_takes_twice_as_long() -> None:
    run = ElasticRun([arrival(0, 5.0, 100.0, 1, 8)], FOUR_CORES, Policy())
    assert ends(run) == {0: pytest.approx(205.0)}
    assert run.finished[0].turnaround_s == pytest.approx(200.0)
    assert run.finished[0].bounded_slowdown == pytest.approx(2.0)


@pytest.mark.parametrize(("preemption", "first", "second"), [("elastic", 125.0, 60.0), ("none", 100.0, 110.0)])
def test_a_core_takes_room_back_where_the_policy_lets_it(preemption: str, first: float, second: float) -> None:
    """The second wants half of the machine from 50 to 60, or else when the first has ended."""
    work = [arrival(0, 0.0, 100.0, 1, 4), arrival(1, 10.0, 50.0, 2, 2)]
    run = ElasticRun(work, FOUR_CORES, Policy(preemption=preemption))
    # Half of the speed for 50 s costs 25 s.
    expected = {0: first, 1: second} if preemption == "elastic" else {0: 100.0, 1: 150.0}
    assert ends(run) == {number: pytest.approx(at_s) for number, at_s in expected.items()}
    assert run.preempted == (2 if preemption == "elastic" else 0)


@pytest.mark.parametrize(("loss", "end_s"), [(0.0, 125.0), (0.5, 127.5), (1.0, 130.0)])
def test_a_worker_that_gives_way_loses_a_part_of_what_it_did(loss: float, end_s: float) -> None:
    """Two of four workers go after ten seconds; all four do the lost part of 20 component-seconds again."""
    work = [arrival(0, 0.0, 100.0, 1, 4), arrival(1, 10.0, 50.0, 2, 2)]
    run = ElasticRun(work, FOUR_CORES, Policy(), loss=loss)
    assert ends(run)[0] == pytest.approx(end_s)
    assert run.lost_s == pytest.approx(20.0 * loss)


def test_an_end_lets_others_grow_and_reserved_core_seconds_are_counted_while_work_arrives() -> None:
    work = [arrival(0, 0.0, 10.0, 2, 2), arrival(1, 0.0, 100.0, 2, 4), arrival(2, 20.0, 1.0, 1, 1)]
    run = ElasticRun(work, FOUR_CORES, Policy())
    assert ends(run)[0] == pytest.approx(10.0)
    assert run.core_seconds == pytest.approx(20.0 * 4)


def test_everything_ends_and_the_same_run_comes_out_the_same() -> None:
    work = arrivals(11, 60, 1.2)
    runs = [ElasticRun(work, machines(), Policy(order="size", backfill="easy")) for _ in range(2)]
    first, second = (run.run() for run in runs)
    assert first == second
    assert len(first) == 60
    assert all(finished.turnaround_s >= finished.arrival.run_s * (1 - 1e-6) for finished in first)


READS = Reading(read_bytes=10_000.0, promised=60)
STORE = StoreSize(store=100, path=1000, floor=1)


def reading(number: int, submit_s: float) -> Arrival:
    """Ten seconds with 1,000 bytes/s, or as long as its bytes take."""
    return replace(arrival(number, submit_s, 10.0, 1, 1), tenant=f"t{number}", reading=READS)


def test_an_application_lasts_as_long_as_its_bytes_take() -> None:
    run = ElasticRun([reading(0, 0.0)], FOUR_CORES, Policy(), StoreUse(STORE))
    assert ends(run) == {0: pytest.approx(100.0, rel=0.02)}
    two = ElasticRun([reading(0, 0.0), reading(1, 0.0)], FOUR_CORES, Policy(), StoreUse(STORE))
    assert ends(two) == {0: pytest.approx(200.0, rel=0.02), 1: pytest.approx(200.0, rel=0.02)}
    assert two.granted_s == 0.0
    assert two.wished_s == pytest.approx(400.0, rel=0.02)


def test_required_bandwidth_is_awaited_and_held() -> None:
    use = StoreUse(STORE, described=True, guarantee=Guarantee.REQUIRED)
    run = ElasticRun([reading(0, 0.0), reading(1, 0.0)], FOUR_CORES, Policy(), use)
    assert ends(run) == {0: pytest.approx(100.0, rel=0.02), 1: pytest.approx(200.0, rel=0.02)}
    assert run.granted_s == pytest.approx(run.wished_s)


def test_preferred_bandwidth_is_held_for_the_first_only() -> None:
    use = StoreUse(STORE, described=True, guarantee=Guarantee.PREFERRED)
    run = ElasticRun([reading(0, 0.0), reading(1, 0.0)], FOUR_CORES, Policy(), use)
    finished = {finished.arrival.number: finished for finished in run.run()}
    assert [finished[n].start_s for n in (0, 1)] == [0.0, 0.0]
    # 60 promised and half of the other 40 for the first.
    assert finished[0].end_s == pytest.approx(10_000 / 80, rel=0.02)
    assert finished[1].end_s == pytest.approx(200.0, rel=0.02)
