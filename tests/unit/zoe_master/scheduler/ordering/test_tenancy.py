"""Turns of tenants, and the precedence of interactive applications."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from tests.support.scheduling import component, node, queued, started
from zoe_lib.domain.applications.application import ApplicationKind
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.queue import Pass, queue_sequence
from zoe_master.scheduler.ordering.snapshot import Snapshot

NODES = (node("n", cores=9, memory_gib=18),)


def of(tenant: str, name: str, at_s: float, cores: float = 1, memory_gib: float = 1, elastic: int = 0) -> Execution:
    one = component(cores=cores, memory_gib=memory_gib, total_count=1 + elastic)
    return replace(queued(name, one, at_s=at_s), tenant=tenant)


def test_drf_alternates_as_in_the_paper() -> None:
    """Section 4.1: A's tasks want 1 core and 4 GB, B's 3 cores and 1 GB, of 9 cores and 18 GB: 3 of A and 2 of B."""
    waiting = [of("a", f"a{i}", i, 1, 4) for i in range(5)] + [of("b", f"b{i}", 10 + i, 3, 1) for i in range(5)]
    plan = schedule(Snapshot(100.0, NODES, tuple(waiting)), Policy(tenants="drf"))
    assert sorted(plan.starts) == ["a0", "a1", "a2", "b0", "b1"]


def test_tenant_with_more_use_comes_later_by_weight() -> None:
    running = (started(of("a", "r", 0, 4, 1), "n"),)
    waiting = (of("a", "a", 1), of("b", "b", 2))
    snapshot = Snapshot(100.0, NODES, waiting, running)
    assert [e.id for e in queue_sequence(Pass.from_snapshot(snapshot, Policy(tenants="drf")))] == ["b", "a"]
    both = Policy(tenants="drf", tenant_shares={"a": 100.0})
    after = replace(snapshot, active=(*running, started(of("b", "s", 0, 1, 1), "n")))
    assert [e.id for e in queue_sequence(Pass.from_snapshot(after, both))] == ["a", "b"]


def test_elastic_services_are_given_in_turns_too() -> None:
    nodes = (node("n", cores=17, memory_gib=64),)
    waiting = (of("a", "a1", 1, elastic=7), of("a", "a2", 2, elastic=7), of("b", "b", 3, elastic=7))
    plan = schedule(Snapshot(10.0, nodes, waiting), Policy(order="fifo", tenants="drf"))
    assert {name: len(given) for name, given in plan.starts.items()} == {"a1": 8, "a2": 1, "b": 8}
    twice = Policy(order="fifo", tenants="drf", tenant_shares={"a": 2.0})
    plan = schedule(Snapshot(10.0, nodes, waiting), twice)
    assert {name: len(given) for name, given in plan.starts.items()} == {"a1": 8, "a2": 3, "b": 6}


def test_tenant_with_the_most_elastic_services_gives_back_first() -> None:
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


def test_interactive_ones_come_first_within_their_share_only() -> None:
    def interactive(name: str, at_s: float) -> Execution:
        execution = of("a", name, at_s, 2, 1)
        return replace(execution, application=replace(execution.application, kind=ApplicationKind.INTERACTIVE))

    waiting = (of("a", "batch", 0, 1), interactive("i1", 1), interactive("i2", 2), interactive("i3", 3))
    snapshot = Snapshot(10.0, NODES, waiting)
    assert [e.id for e in queue_sequence(Pass.from_snapshot(snapshot, Policy()))] == ["batch", "i1", "i2", "i3"]
    some = Policy(interactive_share=0.5)
    assert [e.id for e in queue_sequence(Pass.from_snapshot(snapshot, some))] == ["i1", "i2", "batch", "i3"]
    urgent = replace(waiting[0], priority=1)
    first = queue_sequence(Pass.from_snapshot(replace(snapshot, queued=(urgent, *waiting[1:])), some))[0]
    assert first.id == "batch"
