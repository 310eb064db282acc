"""Cases that took back and gave again for ever, kept places for ever, or broke a promise."""

from __future__ import annotations

from dataclasses import replace

import pytest

import zoe_master.scheduler.placement.placement
from tests.support.resting import carry_out, ticks_to_rest
from tests.support.scheduling import component, node, queued, started
from zoe_lib.domain.applications.application import ApplicationKind
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Snapshot

NODES = (node("n", cores=10),)


def waits(
    name: str, cores: int, *, tenant: str = "t", kind: ApplicationKind = ApplicationKind.BATCH, at_s: float = 0.0
) -> Execution:
    one = queued(name, component(cores=cores, memory_gib=0), kind=kind, at_s=at_s)
    return replace(one, tenant=tenant)


def runs(
    name: str,
    cores: int,
    *elastic: int,
    tenant: str = "t",
    kind: ApplicationKind = ApplicationKind.BATCH,
    run_s: float | None = None,
) -> Execution:
    """Return a running execution: a core and one elastic service for each of these numbers of cores, all on the
    node.
    """
    extras = [
        component(f"e{i}", cores=size, memory_gib=0, essential_count=0, total_count=1) for i, size in enumerate(elastic)
    ]
    core = component(cores=cores, memory_gib=0, essential_count=1)
    one = queued(name, core, *extras, kind=kind, expected_run_s=run_s)
    return replace(started(one, *["n"] * (1 + len(elastic))), tenant=tenant)


def test_elastic_services_do_not_change_the_turns_of_tenants() -> None:
    active = (runs("a0", 2, 4, tenant="a"), runs("c0", 3, tenant="c"))
    queue = (waits("a1", 9, tenant="a"), waits("c1", 2, tenant="c", at_s=1.0))
    rested = ticks_to_rest(Snapshot(10.0, NODES, queue, active), Policy(tenants="drf"))
    assert rested is not None
    assert rested[2] == 0
    assert rested[1].reasons["a1"].code is ReasonCode.NO_RESOURCES


def test_elastic_services_do_not_change_the_precedence_of_interactive_executions() -> None:
    active = (runs("I0", 2, 2, kind=ApplicationKind.INTERACTIVE), runs("B0", 6))
    queue = (waits("B1", 2), waits("I1", 3, kind=ApplicationKind.INTERACTIVE, at_s=1.0))
    rested = ticks_to_rest(Snapshot(10.0, NODES, queue, active), Policy(order="fifo", interactive_share=0.5))
    assert rested is not None
    assert rested[1].reasons["I1"].code is ReasonCode.NO_RESOURCES


@pytest.mark.parametrize("order", ["fifo", "las"])
@pytest.mark.parametrize("backfill", ["easy", "easy-sjbf"])
def test_passing_execution_gets_the_places_made_for_it(order: str, backfill: str) -> None:
    """In the room that is free afterwards, weighers choose the node that is reserved for the first waiting one."""
    nodes = (node("a", cores=10, memory_gib=20), node("b", cores=8, memory_gib=32))
    ends = started(queued("ends", component(cores=9, memory_gib=0), expected_run_s=19.0), "a")
    extras = component("e", cores=1, memory_gib=4, essential_count=0, total_count=6)
    old = started(queued("old", component(cores=2, memory_gib=0, essential_count=1), extras), *["b"] * 7)
    queue = (
        queued("first", component(cores=10, memory_gib=0)),
        queued("passes", component(cores=1, memory_gib=0, essential_count=2), at_s=1.0),
    )
    policy = Policy(order=order, backfill=backfill, weighers={"free_memory": 1.0})
    rested = ticks_to_rest(Snapshot(10.0, nodes, queue, (ends, old)), policy)
    assert rested is not None
    snapshot, _, ticks = rested
    assert ticks == 2
    passed = next(e for e in snapshot.active if e.id == "passes")
    assert [s.node for s in passed.services] == ["b", "b"]


@pytest.mark.parametrize("preemption", ["elastic", "none"])
def test_turns_count_elastic_services_where_they_stay(preemption: str) -> None:
    active = (runs("a0", 2, 4, tenant="a"), runs("c0", 3, tenant="c"))
    queue = (waits("a1", 1, tenant="a"), waits("c1", 1, tenant="c", at_s=1.0))
    plan = schedule(Snapshot(10.0, NODES, queue, active), Policy(tenants="drf", preemption=preemption))
    assert set(plan.starts) == ({"a1"} if preemption == "elastic" else {"c1"})


@pytest.mark.parametrize("backfill", ["easy", "easy-sjbf", "conservative"])
def test_elastic_services_that_stay_leave_the_room_that_is_promised(backfill: str) -> None:
    long = queued(
        "long",
        component(cores=2, memory_gib=0, essential_count=1),
        component("e", cores=1, memory_gib=0, essential_count=0, total_count=2),
    )
    active = (started(long, "n"), runs("short", 6, run_s=19.0))
    blocked = waits("blocked", 8)
    policy = Policy(order="fifo", backfill=backfill, preemption="none")
    snapshot = Snapshot(10.0, NODES, (blocked,), active)
    after = carry_out(snapshot, schedule(snapshot, policy))
    later = replace(after, now_s=20.0, active=after.active[:1])
    assert set(schedule(later, policy).starts) == {"blocked"}
    quick = replace(active[0], application=replace(active[0].application, expected_run_s=15.0))
    assert schedule(replace(snapshot, active=(quick, active[1])), policy).elastic, "what ends before may grow"
    assert schedule(snapshot, replace(policy, preemption="elastic")).elastic, "what gives way may grow"


def test_elastic_services_that_stay_delay_no_reservation() -> None:
    """Conservative backfill reserves a place beside the first for the second waiting one, too."""
    extra = component("e", cores=1, memory_gib=0, essential_count=0, total_count=8)
    long = queued("long", component(cores=2, memory_gib=0, essential_count=1), extra)
    active = (started(long, "n"), runs("short", 4, run_s=19.0))
    blocked, second = waits("blocked", 5), waits("second", 3, at_s=1.0)
    policy = Policy(order="fifo", backfill="conservative", preemption="none")
    snapshot = Snapshot(10.0, (node("n", cores=10, memory_gib=10),), (blocked, second), active)
    after = carry_out(snapshot, schedule(snapshot, policy))
    later = replace(after, now_s=20.0, active=tuple(e for e in after.active if e.id != "short"))
    assert {*schedule(later, policy).starts} | {e.id for e in later.active} >= {"blocked", "second"}


@pytest.mark.parametrize("searches", [0, 10])
@pytest.mark.parametrize("backfill", ["none", "conservative"])
def test_a_place_that_is_free_is_not_kept_but_taken(
    searches: int, backfill: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Heuristics find no room beside an elastic service, and without it a place that does not need its room."""
    monkeypatch.setattr(zoe_master.scheduler.placement.placement, "_SEARCHES_OF_A_PASS", searches)
    nodes = (node("n0", cores=100, memory_gib=10), node("n1", cores=100, memory_gib=10))
    extra = component("e", memory_gib=2, essential_count=0, total_count=1)
    old = queued("old", component(memory_gib=2, essential_count=1), extra)
    new = queued("new", *(component(f"c{i}", cores=0, memory_gib=size) for i, size in enumerate((5, 2, 3, 2, 2, 2))))
    rested = ticks_to_rest(
        Snapshot(10.0, nodes, (new,), (started(old, "n0", "n0"),)), Policy(order="fifo", backfill=backfill)
    )
    assert rested is not None
    assert not rested[1].reserved
    assert not rested[0].queued
