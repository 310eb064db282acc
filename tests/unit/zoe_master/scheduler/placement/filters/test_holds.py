from dataclasses import replace

import pytest

from tests.support.scheduling import component, ledger, node, queued, request, started
from zoe_lib.domain.cluster.cluster import NodeHold
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.events import Placement
from zoe_lib.domain.values.clock import utc_text
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.placement.filters.holds import holds

DRAINED = NodeHold(note="new disks")
LATER = NodeHold(tenant="physics", since_s=1000.0, until_s=2000.0)
SOON = f"will be reserved soon, from {utc_text(1000.0)} until {utc_text(2000.0)}"
RESERVED = f"reserved for another tenant until {utc_text(2000.0)}"


def answer(*given: NodeHold, tenant: str = "default", begins_s: float = 0.0, ends_s: float = 10.0) -> str | None:
    here = node("n", holds=given)
    wanted = replace(request(component()), tenant=tenant, begins_s=begins_s, leaves_s=ends_s)
    return holds(wanted, here, ledger(here))


def test_a_drained_node_takes_nobody_and_says_why() -> None:
    assert answer() is None
    assert answer(DRAINED) == "drained: new disks"
    assert answer(DRAINED, tenant="physics") == "drained: new disks"


@pytest.mark.parametrize("begins_s", [900.0, 1500.0])
def test_the_note_of_a_reservation_is_not_for_other_tenants(begins_s: float) -> None:
    told = answer(replace(LATER, note="secret plan"), begins_s=begins_s, ends_s=3000.0)
    assert told in (SOON, RESERVED)


@pytest.mark.parametrize(
    ("begins_s", "ends_s", "refused"),
    [
        (900.0, 1000.0, None),
        (900.0, 1001.0, SOON),
        (1000.0, 1001.0, RESERVED),
        (1999.0, float("inf"), RESERVED),
        (2000.0, float("inf"), None),
        (0.0, float("inf"), SOON),
    ],
)
def test_a_reserved_one_takes_others_only_if_they_have_ended_by_then(
    begins_s: float, ends_s: float, refused: str | None
) -> None:
    assert answer(LATER, begins_s=begins_s, ends_s=ends_s) == refused
    assert answer(LATER, tenant="physics", begins_s=begins_s, ends_s=ends_s) is None


NEXT = NodeHold(since_s=3000.0, until_s=4000.0, note="kernel")


@pytest.mark.parametrize(
    ("begins_s", "ends_s", "refused"),
    [
        (0.0, 1000.0, None),
        (900.0, 3500.0, SOON),
        (2000.0, 3000.0, None),
        (2000.0, 3001.0, f"will be drained soon, from {utc_text(3000.0)} until {utc_text(4000.0)}: kernel"),
        (3000.0, 3001.0, f"drained until {utc_text(4000.0)}: kernel"),
        (4000.0, float("inf"), None),
    ],
)
def test_each_hold_of_a_node_counts_and_the_next_one_is_named(
    begins_s: float, ends_s: float, refused: str | None
) -> None:
    assert answer(LATER, NEXT, begins_s=begins_s, ends_s=ends_s) == refused
    # The tenant of the reservation meets the window only.
    own = answer(LATER, NEXT, tenant="physics", begins_s=begins_s, ends_s=ends_s)
    assert own == answer(NEXT, begins_s=begins_s, ends_s=ends_s)


def test_a_whole_pass_keeps_to_it_also_when_it_packs_tightly_and_for_elastic_services() -> None:
    nodes = (node("free", cores=4), node("held", cores=9, holds=(DRAINED,)))
    busy = started(queued("z"), "free")
    mixed = queued("x", component("a", cores=2, essential_count=1), component("b", cores=1, essential_count=2))
    grown = started(queued("y", component("c", cores=1, total_count=9, essential_count=1)), "held")
    plan = schedule(Snapshot(10.0, nodes, (mixed,), (grown, busy)), Policy(filters=("readiness", "resources")))
    assert plan.reasons["x"].code is ReasonCode.NO_RESOURCES
    assert plan.reasons["x"].counts["holds"] == 1
    assert "running services have ended" in plan.reasons["x"].hint
    alone = schedule(Snapshot(10.0, nodes[1:], (mixed,)), Policy()).reasons["x"]
    assert (alone.code, alone.counts) == (ReasonCode.NO_NODES, {"holds": 1})
    assert {p.node for p in plan.elastic["y"]} == {"free"}
    opened = (nodes[0], replace(nodes[1], holds=()))
    plan = schedule(Snapshot(10.0, opened, (mixed,), (grown, busy)), Policy())
    assert any(p.node == "held" for p in plan.starts["x"] if isinstance(p, Placement))


def test_a_short_one_uses_a_node_until_its_reservation_begins() -> None:
    nodes = (node("n", holds=(LATER,)),)
    short, long = queued("short", expected_run_s=500.0), queued("long", at_s=1.0, expected_run_s=5000.0)
    plan = schedule(Snapshot(400.0, nodes, (short, long)), Policy(backfill="easy"))
    assert list(plan.starts) == ["short"]
    assert plan.reasons["long"].counts == {"holds": 1}
