"""A core that needs nodes which are down, drained or reserved for others blocks no other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.scheduling import FIFO, component, node, queued, started
from zoe_lib.domain.cluster.cluster import Node, NodeHold
from zoe_lib.domain.cluster.policy import BACKFILLS
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.promises import BandwidthSupply, Rates
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand
from zoe_master.scheduler import queue_pass
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.scheduler.placement.admission import admit

LARGE, SMALL = node("large", cores=16), node("small", cores=4)
WANTS_LARGE = queued("wants", component(cores=16))
AWAY = {
    "down": replace(LARGE, ready=False),
    "drained": replace(LARGE, holds=(NodeHold(),)),
    "reserved": replace(LARGE, holds=(NodeHold(tenant="physics"),)),
}


def decide(*waiting: Execution, nodes: tuple[Node, ...], backfill: str = "none", **more: object) -> Plan:
    snapshot = Snapshot(100.0, nodes, waiting, **more)  # type: ignore[arg-type]
    return schedule(snapshot, replace(FIFO, backfill=backfill))


@pytest.mark.parametrize("backfill", sorted(BACKFILLS))
@pytest.mark.parametrize("away", AWAY)
def test_it_holds_up_nobody_and_is_told_what_it_needs(away: str, backfill: str) -> None:
    plan = decide(WANTS_LARGE, queued("next", at_s=1.0), nodes=(AWAY[away], SMALL), backfill=backfill)
    assert list(plan.starts) == ["next"]
    reason = plan.reasons["wants"]
    assert reason.code is ReasonCode.NODES_AWAY
    assert reason.sentence.startswith(
        "The nodes that it needs are down, drained or reserved: without 1 node its essential services ("
    )
    assert "blocks no other execution" in reason.hint


@pytest.mark.parametrize("backfill", sorted(BACKFILLS))
def test_it_is_first_again_once_its_node_is_back(backfill: str) -> None:
    busy = started(queued("busy", component(cores=1), expected_run_s=199.0), "large")
    following = queued("next", at_s=1.0, expected_run_s=200.0)
    plan = decide(WANTS_LARGE, following, nodes=(LARGE,), backfill=backfill, active=(busy,))
    assert not plan.starts
    assert plan.reasons["wants"].code is ReasonCode.NO_RESOURCES


def test_whom_the_nodes_that_are_there_would_do_closes_the_door_as_ever() -> None:
    busy = started(queued("busy", component(cores=2)), "small")
    waiting = (queued("wants", component(cores=4)), queued("next", at_s=1.0))
    plan = decide(*waiting, nodes=(AWAY["down"], SMALL), active=(busy,))
    assert plan.reasons["wants"].code is ReasonCode.NO_RESOURCES
    assert plan.reasons["wants"].hint == "it starts when enough running services have ended"
    assert plan.reasons["next"].code is ReasonCode.BEHIND_IN_QUEUE


def test_a_core_of_several_kinds_counts_with_all_of_its_services_and_its_gateway() -> None:
    mixed = queued("mixed", component("a", cores=3), component("b", cores=2))
    assert decide(mixed, nodes=(AWAY["down"], SMALL)).reasons["mixed"].code is ReasonCode.NODES_AWAY
    larger = node("small", cores=5)
    assert list(decide(mixed, nodes=(AWAY["down"], larger)).starts) == ["mixed"]


def test_where_no_node_can_be_used_all_are_told_so() -> None:
    """Those behind the first have one text without numbers, so that it changes once."""
    plan = decide(WANTS_LARGE, queued("next", at_s=1.0), nodes=(AWAY["down"], replace(SMALL, holds=(NodeHold(),))))
    assert plan.reasons["wants"].code is ReasonCode.NO_NODES
    assert "2 nodes are down or drained" in plan.reasons["wants"].sentence
    assert plan.reasons["next"].code is ReasonCode.NO_NODES
    assert plan.reasons["next"].sentence == "No node can be used: all are down or drained."
    others = (AWAY["reserved"], replace(SMALL, ready=False))
    plan = decide(WANTS_LARGE, replace(queued("own", at_s=1.0), tenant="physics"), nodes=others)
    assert list(plan.starts) == ["own"]


def test_before_the_first_look_at_nodes_a_queue_keeps_its_reasons() -> None:
    plan = decide(WANTS_LARGE, queued("next", at_s=1.0), nodes=())
    assert plan.reasons["wants"].sentence == "No node is known yet."
    assert plan.reasons["next"].code is ReasonCode.BEHIND_IN_QUEUE


def test_it_keeps_no_bandwidth_from_others() -> None:
    def requiring(name: str, cores: int, at_s: float) -> Execution:
        bandwidth = Bandwidth(60, None, Guarantee.REQUIRED)
        return queued(name, component(cores=cores), at_s=at_s, storage=StorageDemand(bandwidth=bandwidth))

    waiting = (requiring("wants", 16, 0.0), requiring("next", 1, 1.0))
    plan = decide(*waiting, nodes=(AWAY["down"], SMALL), storage=BandwidthSupply(Rates(100, 50)))
    assert list(plan.starts) == ["next"]


def test_thousands_that_need_the_same_are_placed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def counted(execution: Execution, placer: object) -> object:
        tried.append(execution.id)
        return admit(execution, placer)  # type: ignore[arg-type]

    monkeypatch.setattr(queue_pass, "admit", counted)
    waiting = [queued(f"e{i:04}", component(cores=16), at_s=float(i)) for i in range(2000)]
    other = queued("other", component("other", cores=16), at_s=3000.0)
    plan = decide(*waiting, other, queued("small", at_s=5000.0), nodes=(AWAY["down"], SMALL))
    assert tried == ["e0000", "other", "small"]
    assert list(plan.starts) == ["small"]


def test_reservations_are_asked_for_each_tenant_and_for_the_time_each_needs() -> None:
    hold = NodeHold(tenant="physics", since_s=200.0)
    nodes = (replace(LARGE, holds=(hold,)), SMALL)
    long, short = (
        queued(n, component(cores=16), at_s=t, expected_run_s=s) for n, t, s in (("l", 0, 500), ("s", 1, 50))
    )
    own = replace(queued("own", component(cores=16), at_s=2.0), tenant="physics")
    plan = decide(long, short, own, nodes=nodes)
    assert list(plan.starts) == ["s"]
    assert plan.reasons["l"].code is ReasonCode.WINDOW_AHEAD
    assert plan.reasons["own"].code is ReasonCode.NO_RESOURCES
