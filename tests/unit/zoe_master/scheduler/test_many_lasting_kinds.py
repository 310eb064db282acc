"""Thousands of unlike executions that no end of another would help: a pass looks at few of them node by node."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.scheduling import FIFO, component, node, queued, started
from zoe_lib.domain.cluster.cluster import Node, NodeHold
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.scheduler.placement import admission, lasting_reasons
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.what_if.explain import explain
from zoe_master.scheduler.what_if.proposal import propose

NODES = (node("a", cores=4), node("b", cores=4))
LATER = NodeHold(since_s=3600.0)
KINDS = {
    ReasonCode.NEVER_FITS: (NODES, 20.0),
    ReasonCode.NODES_AWAY: ((*NODES, node("c", cores=64, holds=(NodeHold(),))), 20.0),
    ReasonCode.WINDOW_AHEAD: (tuple(replace(each, holds=(LATER,)) for each in NODES), 1.0),
    ReasonCode.FOREIGN_USE: (tuple(replace(each, foreign=Resources(3500, 0)) for each in NODES), 1.0),
}
COUNT = 40


def unlike(cores: float, count: int = COUNT) -> list[Execution]:
    return [queued(f"q{i}", component(cores=cores + i / 1000), at_s=float(i)) for i in range(count)]


def decide(nodes: tuple[Node, ...], *executions: Execution) -> Plan:
    return schedule(Snapshot(100.0, nodes, executions), FIFO)


@pytest.mark.parametrize("code", KINDS)
def test_all_are_told_the_cause_and_hold_up_no_other(code: ReasonCode) -> None:
    nodes, cores = KINDS[code]
    small = queued("small", component(cores=0.1), at_s=999.0, time_limit_s=60.0)
    plan = decide(nodes, *unlike(cores), small)
    assert {plan.reasons[f"q{i}"].code for i in range(COUNT)} == {code}
    assert list(plan.starts) == ["small"]


@pytest.mark.parametrize("code", KINDS)
def test_all_behind_a_waiting_one_are_told_the_cause(code: ReasonCode) -> None:
    nodes, cores = KINDS[code]
    more = (*nodes, node("busy", cores=1, labels={"busy": "yes"}, foreign=Resources(0, 0)))
    first = queued("first", component(cores=1, memory_gib=20, labels=(("busy", "yes"),)), at_s=-2.0, time_limit_s=60.0)
    second = queued(
        "second", component(cores=1, memory_gib=20, labels=(("busy", "yes"),)), at_s=-1.0, time_limit_s=60.0
    )
    plan = decide(more, first, second, *unlike(max(cores, 1.1)))
    assert plan.reasons["second"].code is ReasonCode.NO_RESOURCES
    assert {plan.reasons[f"q{i}"].code for i in range(COUNT)} == {code}


# Of each, the services fit one by one, and together only with the nodes that are away.
MIXED = {
    ReasonCode.NEVER_FITS: (NODES, (3.0, 3.0, 2.0)),
    ReasonCode.NODES_AWAY: ((*NODES, node("c", cores=64, holds=(NodeHold(),))), (3.0, 3.0, 2.0)),
    ReasonCode.WINDOW_AHEAD: ((NODES[0], replace(NODES[1], holds=(LATER,))), (3.0, 2.0)),
    ReasonCode.FOREIGN_USE: ((NODES[0], replace(NODES[1], foreign=Resources(2500, 0))), (3.0, 2.0)),
}


def mixed(name: str, cores: tuple[float, ...]) -> Execution:
    return queued(name, *(component(f"c{i}", cores=each) for i, each in enumerate(cores)))


@pytest.mark.parametrize("code", MIXED)
def test_a_mixed_core_behind_a_waiting_one_is_told_the_cause(code: ReasonCode) -> None:
    nodes, cores = MIXED[code]
    busy = started(queued("busy", component(cores=1)), "a")
    first = queued("first", component(cores=4, labels=(("name", "a"),)), at_s=-1.0, time_limit_s=60.0)
    named = (replace(nodes[0], labels={"name": "a"}), *nodes[1:])
    plan = schedule(Snapshot(100.0, named, (first, mixed("second", cores)), (busy,)), FIFO)
    assert plan.reasons["first"].code is ReasonCode.NO_RESOURCES
    assert plan.reasons["second"].code is code


def test_few_mixed_kinds_are_looked_at_in_a_large_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    look = admission.lasting_refusal
    monkeypatch.setattr(lasting_reasons, "lasting_refusal", lambda *of: looks.append(1) or look(*of))
    nodes = tuple(node(f"n{i:03}", cores=4) for i in range(400))
    active = tuple(started(queued(f"r{i}", component(cores=3)), f"n{i:03}") for i in range(400))
    waiting = tuple(mixed(f"q{i}", (3.0 + i / 1000, 2.0)) for i in range(50))
    plan = schedule(Snapshot(100.0, nodes, waiting, active), replace(FIFO, backfill="none"))
    assert {reason.code for reason in plan.reasons.values()} == {ReasonCode.NO_RESOURCES, ReasonCode.BEHIND_IN_QUEUE}
    assert len(looks) == 10


def test_explain_and_plan_name_the_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes, cores = KINDS[ReasonCode.WINDOW_AHEAD]
    snapshot = Snapshot(100.0, nodes, tuple(unlike(cores)))
    last = explain(snapshot, FIFO, f"q{COUNT - 1}")
    assert last is not None
    assert last.reason is not None
    assert "1970-01-01" in last.reason.sentence
    found = propose(snapshot, FIFO, queued("new", component(cores=cores), at_s=99.0))
    assert found.reason is not None
    assert "1970-01-01" in found.reason.sentence


def test_a_plan_on_drained_nodes_says_so_behind_others() -> None:
    drained = tuple(replace(each, holds=(NodeHold(),)) for each in NODES)
    found = propose(Snapshot(100.0, drained, tuple(unlike(1.0))), FIFO, queued("new", component(), at_s=99.0))
    assert found.reason is not None
    assert found.reason.code is ReasonCode.NO_NODES


def test_few_kinds_are_looked_at_node_by_node(monkeypatch: pytest.MonkeyPatch) -> None:
    placed = []
    place = ServicePlacer.place
    monkeypatch.setattr(ServicePlacer, "place", lambda placer, request: placed.append(1) or place(placer, request))
    nodes, cores = KINDS[ReasonCode.WINDOW_AHEAD]
    decide(nodes, *unlike(cores))
    few, placed[:] = len(placed), []
    decide(nodes, *unlike(cores, 10 * COUNT))
    assert len(placed) == few
