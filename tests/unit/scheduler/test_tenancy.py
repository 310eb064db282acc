"""Turns and limits of tenants, and the precedence of interactive applications."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from tests.support.scheduling import FIFO, GIB, component, node, queued, started
from zoe_lib.domain.application import Kind
from zoe_lib.domain.events import ServiceEnded, ServiceStarting, ServiceStopping
from zoe_lib.domain.execution import Cause, Execution
from zoe_lib.domain.lifecycle import apply
from zoe_lib.domain.policy import Policy, TenantLimit
from zoe_lib.domain.reasons import ReasonCode
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.queue import Queue
from zoe_master.scheduler.snapshot import Snapshot

NODES = (node("n", cores=9, memory_gib=18),)


def of(tenant: str, name: str, at_s: float, cores: float = 1, memory_gib: float = 1, elastic: int = 0) -> Execution:
    one = component(cores=cores, memory_gib=memory_gib, total_count=1 + elastic)
    return replace(queued(name, one, at_s=at_s), tenant=tenant)


def test_drf_alternates_as_in_the_paper() -> None:
    """Section 4.1: A's tasks want 1 core and 4 GB, B's 3 cores and 1 GB, of 9 cores and 18 GB: 3 of A and 2 of B."""
    waiting = [of("a", f"a{i}", i, 1, 4) for i in range(5)] + [of("b", f"b{i}", 10 + i, 3, 1) for i in range(5)]
    plan = schedule(Snapshot(100.0, NODES, tuple(waiting)), Policy(tenants="drf"))
    assert sorted(plan.starts) == ["a0", "a1", "a2", "b0", "b1"]


def test_who_holds_much_comes_later_and_shares_weigh() -> None:
    running = (started(of("a", "r", 0, 4, 1), "n"),)
    waiting = (of("a", "a", 1), of("b", "b", 2))
    snapshot = Snapshot(100.0, NODES, waiting, running)
    assert [e.id for e in Queue(snapshot, Policy(tenants="drf")).sequence()] == ["b", "a"]
    both = Policy(tenants="drf", tenant_shares={"a": 100.0})
    after = replace(snapshot, active=(*running, started(of("b", "s", 0, 1, 1), "n")))
    assert [e.id for e in Queue(after, both).sequence()] == ["a", "b"]


def test_elastic_services_are_given_in_turns_too() -> None:
    nodes = (node("n", cores=17, memory_gib=64),)
    waiting = (of("a", "a1", 1, elastic=7), of("a", "a2", 2, elastic=7), of("b", "b", 3, elastic=7))
    plan = schedule(Snapshot(10.0, nodes, waiting), Policy(order="fifo", tenants="drf"))
    assert {name: len(given) for name, given in plan.starts.items()} == {"a1": 8, "a2": 1, "b": 8}
    twice = Policy(order="fifo", tenants="drf", tenant_shares={"a": 2.0})
    plan = schedule(Snapshot(10.0, nodes, waiting), twice)
    assert {name: len(given) for name, given in plan.starts.items()} == {"a1": 8, "a2": 3, "b": 6}


def test_whoever_has_most_elastic_services_gives_them_back_first() -> None:
    nodes = (node("n", cores=10, memory_gib=64),)
    rich = started(of("a", "rich", 0, elastic=6), *["n"] * 7)
    poor = started(of("b", "poor", 1, elastic=2), *["n"] * 3)
    snapshot = Snapshot(10.0, nodes, (of("c", "c", 2, 3),), (rich, poor))
    by_order = schedule(snapshot, Policy(order="fifo"))
    assert {name: len(gone) for name, gone in by_order.preempt.items()} == {"poor": 2, "rich": 1}
    in_turns = schedule(snapshot, Policy(order="fifo", tenants="drf"))
    assert {name: len(gone) for name, gone in in_turns.preempt.items()} == {"rich": 3}
    assert in_turns.preempt["rich"] == tuple(s.id for s in rich.services[:3:-1])


@pytest.mark.parametrize("seed", range(50))
def test_no_tenant_gets_more_while_another_has_less_and_wants_more(seed: int) -> None:
    chance = random.Random(seed)
    nodes = tuple(node(f"n{i}", cores=8, memory_gib=64) for i in range(4))
    waiting = tuple(of(chance.choice("abc"), f"e{i}", i, elastic=chance.randint(0, 12)) for i in range(8))
    shares = {"a": 1.0, "b": 2.0}
    plan = schedule(Snapshot(10.0, nodes, waiting), Policy(order="fifo", tenants="drf", tenant_shares=shares))
    assert len(plan.starts) == len(waiting)
    has, elastic, wants = Counter[str](), Counter[str](), Counter[str]()
    for execution in waiting:
        given = len(plan.starts[execution.id])
        has[execution.tenant] += given
        elastic[execution.tenant] += given - 1
        wants[execution.tenant] += len(execution.services) - given
    for more in has:
        for less in has:
            if elastic[more] and wants[less]:  # when `more` had its last turn, `less` had no smaller share
                assert (has[more] - 1) / shares.get(more, 1.0) <= has[less] / shares.get(less, 1.0) + 1e-9


def test_a_tenant_at_its_limit_waits_with_a_reason_and_blocks_nobody() -> None:
    limited = replace(FIFO, tenant_limits={"a": TenantLimit(cores_milli=2000), "*": TenantLimit(memory_bytes=4 * GIB)})
    waiting = (of("a", "a1", 1, 2), of("a", "a2", 2, 1), of("b", "b", 3, 1, 5), of("c", "c", 4, 1, 4))
    plan = schedule(Snapshot(10.0, NODES, waiting), limited)
    assert sorted(plan.starts) == ["a1", "c"]
    assert {name: reason.code for name, reason in plan.reasons.items()} == {
        "a2": ReasonCode.TENANT_LIMIT,
        "b": ReasonCode.TENANT_LIMIT,
    }
    assert "2 cores" in plan.reasons["a2"].sentence


def test_elastic_services_keep_within_the_limit_too() -> None:
    limited = replace(FIFO, tenant_limits={"a": TenantLimit(cores_milli=3000)})
    plan = schedule(Snapshot(10.0, NODES, (of("a", "a", 1, 1, 1, elastic=5),)), limited)
    assert len(plan.starts["a"]) == 3


def test_interactive_ones_come_first_within_their_share_only() -> None:
    def interactive(name: str, at_s: float) -> Execution:
        execution = of("a", name, at_s, 2, 1)
        return replace(execution, application=replace(execution.application, kind=Kind.INTERACTIVE))

    waiting = (of("a", "batch", 0, 1), interactive("i1", 1), interactive("i2", 2), interactive("i3", 3))
    snapshot = Snapshot(10.0, NODES, waiting)
    assert [e.id for e in Queue(snapshot, Policy()).sequence()] == ["batch", "i1", "i2", "i3"]
    some = Policy(interactive_share=0.5)
    assert [e.id for e in Queue(snapshot, some).sequence()] == ["i1", "i2", "batch", "i3"]
    urgent = replace(waiting[0], priority=1)
    first = Queue(replace(snapshot, queued=(urgent, *waiting[1:])), some).sequence()[0]
    assert first.id == "batch"


LIMITED = replace(FIFO, tenant_limits={"a": TenantLimit(cores_milli=4000)})


def filling(tenant: str, name: str, elastic: int, at_s: float = 0.0) -> Execution:
    """It runs with one core service and so many elastic ones, of one core each."""
    one = of(tenant, name, at_s, elastic=elastic)
    return started(replace(one, application=replace(one.application, expected_run_s=100.0)), *["n"] * (1 + elastic))


def test_a_core_takes_its_limit_back_from_its_own_tenants_elastic_services_and_as_few_as_needed() -> None:
    active = (filling("a", "old", 3), filling("b", "others", 3, at_s=5.0))
    snapshot = Snapshot(10.0, NODES, (of("a", "new", 6, 2),), active)
    plan = schedule(snapshot, LIMITED)
    assert {k: len(v) for k, v in plan.preempt.items()} == {"old": 2}, "of its own tenant, although `others` came last"
    assert plan.reasons["new"].code is ReasonCode.MAKING_ROOM
    assert [p.node for p in plan.reserved["new"]] == ["n"]
    assert not plan.elastic, "what it takes back is not given away again"


def test_once_they_are_leaving_nobody_else_goes_and_the_core_starts_when_they_have_gone() -> None:
    old = filling("a", "old", 3)
    going, *_ = old.elastic_services()
    leaving = apply(
        apply(old, ServiceStarting(at_s=2.0, service_id=going.id)),
        ServiceStopping(at_s=3.0, service_id=going.id, cause=Cause.PREEMPTED),
    )
    snapshot = Snapshot(10.0, NODES, (of("a", "new", 6),), (leaving,))
    plan = schedule(snapshot, LIMITED)
    assert not plan.preempt
    assert plan.reasons["new"].code is ReasonCode.MAKING_ROOM
    gone = apply(leaving, ServiceEnded(at_s=4.0, service_id=going.id, exit_code=0, cause=Cause.PREEMPTED))
    assert list(schedule(replace(snapshot, active=(gone,)), LIMITED).starts) == ["new"]


def test_cores_that_fill_a_limit_are_waited_for_and_so_is_everything_where_nothing_is_preempted() -> None:
    waiting = (of("a", "new", 6, 2),)
    core = started(of("a", "old", 0, 3), "n")
    for active, policy in (
        ((core, filling("b", "others", 3)), LIMITED),
        ((filling("a", "old", 3),), replace(LIMITED, preemption="none")),
    ):
        plan = schedule(Snapshot(10.0, NODES, waiting, active), policy)
        assert not plan.preempt
        assert plan.reasons["new"].code is ReasonCode.TENANT_LIMIT


@pytest.mark.parametrize("backfill", ["easy", "easy-sjbf", "conservative"])
def test_who_passes_by_backfill_takes_its_limit_back_too(backfill: str) -> None:
    active = (filling("a", "old", 3), filling("b", "others", 0))
    short = of("a", "short", 8)
    short = replace(short, application=replace(short.application, expected_run_s=1.0))
    waiting = (of("b", "wide", 7, 8), short)
    plan = schedule(Snapshot(10.0, NODES, waiting, active), replace(LIMITED, backfill=backfill))
    assert {name: reason.code for name, reason in plan.reasons.items()} == {
        "wide": ReasonCode.NO_RESOURCES,
        "short": ReasonCode.MAKING_ROOM,
    }
    assert {k: len(v) for k, v in plan.preempt.items()} == {"old": 1}


def test_those_that_give_their_limit_give_their_room_too_before_others_are_asked() -> None:
    full = (node("n", cores=6, memory_gib=18),)
    active = (filling("a", "old", 3), filling("b", "others", 1, at_s=5.0))
    plan = schedule(Snapshot(10.0, full, (of("a", "new", 6),), active), LIMITED)
    assert {k: len(v) for k, v in plan.preempt.items()} == {"old": 1}
