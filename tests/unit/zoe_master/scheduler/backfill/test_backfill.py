"""Executions that may pass the first waiting one, where elastic services hold its room."""

from __future__ import annotations

import pytest

from tests.support.scheduling import component, node, queued, started
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.events import ServiceEnded, ServiceStarting, ServiceStopping
from zoe_lib.domain.executions.execution import Cause, Execution
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.run_times.samples import run_key
from zoe_master.scheduler import queue_pass
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot

NODES = (node("n", cores=5),)
BLOCKED = queued("blocked", component(cores=4), at_s=2.0, expected_run_s=10.0)


def with_elastic(name: str, run_s: float) -> Execution:
    """Return an execution with one core and one elastic service of one core each, placed at 1."""
    return started(queued(name, component(essential_count=1, total_count=2), expected_run_s=run_s), "n", "n")


def small(run_s: float) -> Execution:
    return queued("small", component(cores=1), at_s=3.0, expected_run_s=run_s)


def decide(waiting: Execution, **policy: str) -> Plan:
    """Decide at 100; the cores of one running execution end at 150 and of the other at 200."""
    active = (with_elastic("first", 149.0), with_elastic("second", 199.0))
    snapshot = Snapshot(100.0, NODES, (BLOCKED, waiting), active)
    return schedule(snapshot, Policy(**policy))  # type: ignore[arg-type]


@pytest.mark.parametrize("backfill", ["easy", "easy-sjbf", "conservative"])
def test_elastic_services_are_counted_as_gone_when_the_core_that_waits_will_need_their_room(backfill: str) -> None:
    plan = decide(small(run_s=80.0), backfill=backfill)
    assert not plan.starts, "the other one starts at 150: the elastic service beside it gives way"
    assert plan.reasons["blocked"].code is ReasonCode.NO_RESOURCES
    assert list(decide(small(run_s=50.0), backfill=backfill).starts) == ["small"]


@pytest.mark.parametrize("backfill", ["easy", "easy-sjbf", "conservative"])
def test_elastic_services_that_stay_are_waited_for(backfill: str) -> None:
    plan = decide(small(run_s=80.0), backfill=backfill, preemption="none")
    assert list(plan.starts) == ["small"]


@pytest.mark.parametrize("backfill", ["easy", "easy-sjbf", "conservative"])
def test_passing_execution_takes_its_room_from_elastic_services(backfill: str) -> None:
    """Two cores are elastic, none is free; at 150 one core ends and the first in the queue starts."""
    nodes = (node("n", cores=4),)
    blocked = queued("blocked", component(cores=3), at_s=2.0, expected_run_s=10.0)
    active = (with_elastic("first", 149.0), with_elastic("second", 199.0))
    waiting = queued("small", component(cores=1), at_s=3.0, expected_run_s=40.0)
    plan = schedule(Snapshot(100.0, nodes, (blocked, waiting), active), Policy(order="fifo", backfill=backfill))
    assert plan.reasons["blocked"].code is ReasonCode.NO_RESOURCES
    assert plan.reasons["small"].code is ReasonCode.MAKING_ROOM
    assert {k: len(v) for k, v in plan.preempt.items()} == {"second": 1}, "one, of the last in the order"
    assert list(plan.reserved) == ["small"]
    assert not plan.elastic


@pytest.mark.parametrize("backfill", ["easy", "easy-sjbf", "conservative"])
def test_no_room_is_taken_if_it_delays_the_first_or_elastic_ones_stay(backfill: str) -> None:
    nodes = (node("n", cores=4),)
    blocked = queued("blocked", component(cores=3), at_s=2.0, expected_run_s=10.0)
    active = (with_elastic("first", 149.0), with_elastic("second", 199.0))
    for run_s, preemption in ((60.0, "elastic"), (40.0, "none")):
        waiting = queued("small", component(cores=1), at_s=3.0, expected_run_s=run_s)
        policy = Policy(order="fifo", backfill=backfill, preemption=preemption)
        plan = schedule(Snapshot(100.0, nodes, (blocked, waiting), active), policy)
        assert not plan.preempt
        assert plan.reasons["small"].code is ReasonCode.BEHIND_IN_QUEUE


def test_places_kept_for_those_that_passed_are_not_given_away_twice() -> None:
    """Six cores in which two each may pass: three do, and the fourth waits."""
    nodes = (node("n", cores=7),)
    blocked = queued("blocked", component(cores=7), at_s=2.0, expected_run_s=10.0)
    running = started(queued("old", component(total_count=7, essential_count=1), expected_run_s=149.0), *["n"] * 7)
    waiting = [queued(f"q{i}", component(cores=2), at_s=3.0 + i, expected_run_s=40.0) for i in range(4)]
    plan = schedule(Snapshot(100.0, nodes, (blocked, *waiting), (running,)), Policy(order="fifo", backfill="easy"))
    assert set(plan.reserved) == {"q0", "q1", "q2"}
    assert len(plan.preempt["old"]) == 6
    assert plan.reasons["q3"].code is ReasonCode.BEHIND_IN_QUEUE
    assert len(plan.reasons) == len(list(plan.reasons)) == 5


def test_a_place_of_one_expected_to_take_no_time_is_not_given_away_twice() -> None:
    """Two cores are free and an elastic service has one; the first takes both, as briefly as its last runs."""
    waiting = (
        queued("blocked", component(cores=4), at_s=2.0, expected_run_s=10.0),
        queued("quick", component(cores=2), at_s=3.0),
        queued("next", component(cores=2), at_s=4.0, expected_run_s=40.0),
    )
    known = {run_key(waiting[1]): 0.0}
    active = (with_elastic("old", 149.0),)
    snapshot = Snapshot(100.0, (node("n", cores=4),), waiting, active, past_runs=known)
    plan = schedule(snapshot, Policy(order="fifo", backfill="conservative"))
    assert list(plan.starts) == ["quick"]
    assert not plan.reserved
    assert not plan.preempt


def test_a_place_kept_for_one_expected_to_take_no_time_is_not_given_away_twice() -> None:
    """Two cores are free, and an elastic service leaves the third that the first needs."""
    waiting = (
        queued("blocked", component(cores=4), at_s=2.0, expected_run_s=10.0),
        queued("quick", component(cores=3), at_s=3.0),
        queued("next", component(cores=1), at_s=4.0, expected_run_s=40.0),
    )
    known = {run_key(waiting[1]): 0.0}
    old = with_elastic("old", 149.0)
    leaving = old.elastic_services()[0].id
    old = apply(old, ServiceStarting(at_s=2.0, service_id=leaving))
    old = apply(old, ServiceStopping(at_s=3.0, service_id=leaving, cause=Cause.PREEMPTED))
    snapshot = Snapshot(100.0, (node("n", cores=4),), waiting, (old,), past_runs=known)
    plan = schedule(snapshot, Policy(order="fifo", backfill="conservative"))
    assert not plan.starts
    assert list(plan.reserved) == ["quick"]


def test_an_elastic_service_that_goes_comes_back_only_after_the_core_that_took_its_room() -> None:
    """Tick by tick: it stops, the core starts, and neither takes from the other again."""
    nodes = (node("n", cores=4),)
    blocked = queued("blocked", component(cores=3), at_s=2.0, expected_run_s=10.0)
    small = queued("small", component(cores=1), at_s=3.0, expected_run_s=40.0)
    active = [with_elastic("first", 149.0), with_elastic("second", 199.0)]
    policy = Policy(order="fifo", backfill="easy")
    plan = schedule(Snapshot(100.0, nodes, (blocked, small), tuple(active)), policy)
    (gone,) = plan.preempt["second"]
    active[1] = apply(active[1], ServiceStarting(at_s=100.0, service_id=gone))
    active[1] = apply(active[1], ServiceStopping(at_s=100.0, service_id=gone, cause=Cause.PREEMPTED))
    plan = schedule(Snapshot(101.0, nodes, (blocked, small), tuple(active)), policy)
    assert (list(plan.reserved), plan.preempt, plan.elastic) == (["small"], {}, {})
    active[1] = apply(active[1], ServiceEnded(at_s=102.0, service_id=gone, cause=Cause.PREEMPTED))
    plan = schedule(Snapshot(102.0, nodes, (blocked, small), tuple(active)), policy)
    assert list(plan.starts) == ["small"]
    assert not plan.preempt
    assert not plan.elastic


@pytest.mark.parametrize("backfill", ["easy", "easy-sjbf"])
def test_of_a_long_queue_for_which_no_node_has_room_nobody_is_placed(
    backfill: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cores are free on all nodes together, but no node has two: each kind is counted once."""
    tried: list[str] = []
    monkeypatch.setattr(queue_pass, "surely_refused", lambda execution, _: bool(tried.append(execution.id)))
    nodes = tuple(node(f"n{i}", cores=2) for i in range(4))
    busy = tuple(started(queued(f"busy{i}", expected_run_s=900.0), f"n{i}") for i in range(4))
    waiting = tuple(queued(f"w{i}", component(cores=2), at_s=float(i), expected_run_s=5.0) for i in range(100))
    plan = schedule(Snapshot(100.0, nodes, waiting, busy), Policy(order="fifo", backfill=backfill))
    assert not plan.starts
    assert not tried


@pytest.mark.parametrize("backfill", ["easy", "easy-sjbf", "conservative"])
def test_where_no_run_time_is_known_an_hour_is_expected(backfill: str) -> None:
    """Users who declare nothing: the first waits for most of the node, and small ones beside it do not wait."""
    nodes = (node("n", cores=8, memory_gib=32),)
    notebook = started(queued("notebook", component(memory_gib=20)), "n")
    wants = queued("wants", component(memory_gib=21), at_s=2.0)
    hello = queued("hello", component(memory_gib=1), at_s=3.0)
    wide = queued("wide", component(memory_gib=12), at_s=4.0)
    policy = Policy(order="fifo", backfill=backfill)
    for now_s in (100.0, 10_000.0):  # before and after the expected hour of the notebook
        plan = schedule(Snapshot(now_s, nodes, (wants, hello, wide), (notebook,)), policy)
        assert list(plan.starts) == ["hello"], "the wide one would delay the first"
        assert plan.reasons["wants"].code is ReasonCode.NO_RESOURCES


def _two_nodes_of_which_one_is_promised(waiting: Execution, **policy: str) -> Plan:
    """At 100; `blocked` waits for all of `a`, half of which `old` holds until 200; `b` has 6 of 10 cores free.

    Weighers choose `a`, which has more memory.
    """
    nodes = (node("a", cores=10, memory_gib=64), node("b", cores=10, memory_gib=32))
    old = started(queued("old", component(cores=5), expected_run_s=199.0), "a")
    other = started(queued("other", component(cores=4), expected_run_s=10_000.0), "b")
    blocked = queued("blocked", component(cores=10), at_s=2.0, expected_run_s=10.0)
    snapshot = Snapshot(100.0, nodes, (blocked, waiting), (old, other))
    return schedule(snapshot, Policy(order="fifo", weighers={"free_memory": 1.0}, **policy))  # type: ignore[arg-type]


@pytest.mark.parametrize("preemption", ["elastic", "none"])
@pytest.mark.parametrize("backfill", ["easy", "easy-sjbf", "conservative"])
def test_execution_that_delays_the_first_passes_on_another_node(backfill: str, preemption: str) -> None:
    waiting = queued("long", component(cores=2), at_s=3.0, expected_run_s=1000.0)
    plan = _two_nodes_of_which_one_is_promised(waiting, backfill=backfill, preemption=preemption)
    assert [p.node for p in plan.starts["long"]] == ["b"]
    brief = queued("brief", component(cores=2), at_s=3.0, expected_run_s=50.0)
    plan = _two_nodes_of_which_one_is_promised(brief, backfill=backfill, preemption=preemption)
    assert [p.node for p in plan.starts["brief"]] == ["a"], "who ends before takes what weighers prefer"
    wide = queued("wide", component(cores=2, total_count=4, essential_count=4), at_s=3.0, expected_run_s=1000.0)
    plan = _two_nodes_of_which_one_is_promised(wide, backfill=backfill, preemption=preemption)
    assert not plan.starts, "one of its services would be in the way"


def test_places_that_delay_the_first_are_given_back_before_others_are_tried() -> None:
    """At 200 the first in the queue needs all of `b`, which is chosen for one of two services: both go to `a`."""
    nodes = (node("a", cores=4), node("b", cores=6, memory_gib=900))
    running = started(queued("short", component(cores=2), expected_run_s=199.0), "b")
    blocked = queued("blocked", component(cores=6), at_s=2.0, expected_run_s=10.0)
    two = queued("two", component(cores=2, essential_count=2, total_count=2), at_s=3.0, expected_run_s=500.0)
    plan = schedule(Snapshot(100.0, nodes, (blocked, two), (running,)), Policy(order="fifo", backfill="easy"))
    assert {name: [place.node for place in places] for name, places in plan.starts.items()} == {"two": ["a", "a"]}
