"""Executions that may not end before a node is drained or reserved."""

from __future__ import annotations

from dataclasses import replace

from tests.support.scheduling import FIFO, component, node, queued, started
from zoe_lib.domain.cluster.cluster import Node, NodeHold
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.run_times.samples import run_key
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot

DAY_S = 86_400.0
MAINTENANCE = NodeHold(None, 30 * DAY_S, 31 * DAY_S, "new switches")


def decide(*waiting: Execution, nodes: tuple[Node, ...], **more: object) -> Plan:
    return schedule(Snapshot(0.0, nodes, waiting, **more), FIFO)  # type: ignore[arg-type]


def test_idle_nodes_with_a_window_tell_the_longest_time_limit_that_would_start() -> None:
    nodes = (node("a", holds=(MAINTENANCE,)), node("b", holds=(MAINTENANCE,)))
    reason = decide(queued("q"), nodes=nodes).reasons["q"]
    assert reason.code is ReasonCode.WINDOW_AHEAD
    assert reason.sentence == (
        "From 1970-01-31 00:00:00 UTC, 2 nodes are drained (new switches), and this execution has no time limit, so it "
        "may not have ended by then."
    )
    assert reason.hint == "with a time limit of at most 30 days it would start now"


def test_it_starts_with_that_time_limit_and_waits_with_a_longer_one() -> None:
    nodes = (node("a", holds=(MAINTENANCE,)),)
    assert decide(queued("q", time_limit_s=30 * DAY_S), nodes=nodes).starts
    longer = decide(queued("q", time_limit_s=30 * DAY_S + 1), nodes=nodes).reasons["q"]
    assert (longer.code, "time limit of this execution reaches beyond" in longer.sentence) == (
        ReasonCode.WINDOW_AHEAD,
        True,
    )


def test_time_limit_counts_and_no_prediction() -> None:
    nodes = (node("a", holds=(replace(MAINTENANCE, since_s=300.0),)),)
    limited = queued("q", time_limit_s=600.0)
    assert decide(limited, nodes=nodes, past_runs={run_key(limited): 10.0}).reasons["q"].code is ReasonCode.WINDOW_AHEAD
    assert decide(queued("q", time_limit_s=600.0, expected_run_s=10.0), nodes=nodes).reasons
    assert decide(queued("q", expected_run_s=10.0), nodes=nodes).starts


def test_with_windows_at_several_times_the_latest_that_leaves_room_counts() -> None:
    later = replace(MAINTENANCE, since_s=60 * DAY_S, until_s=61 * DAY_S)
    nodes = (node("a", holds=(MAINTENANCE,)), node("b", holds=(later,)))
    assert decide(queued("q"), nodes=nodes).reasons["q"].hint == (
        "with a time limit of at most 60 days it would start now"
    )
    both = queued("both", component(essential_count=2, cores=8))
    assert decide(both, nodes=nodes).reasons["both"].hint == "with a time limit of at most 30 days it would start now"


def test_without_room_now_the_hint_says_when_it_would_start() -> None:
    busy = started(queued("busy", component(cores=8), time_limit_s=DAY_S), "a")
    reason = decide(queued("q"), nodes=(node("a", holds=(MAINTENANCE,)),), active=(busy,)).reasons["q"]
    assert reason.hint == "with a time limit of at most 30 days it starts when there is room"


def test_it_holds_up_no_other() -> None:
    nodes = (node("a", holds=(MAINTENANCE,)),)
    plan = decide(queued("q"), queued("next", at_s=1.0, time_limit_s=60.0), nodes=nodes)
    assert list(plan.starts) == ["next"]


def test_reservation_for_another_tenant_shows_no_note() -> None:
    reserved = NodeHold("physics", 3600.0, 7200.0, "beam time")
    reason = decide(queued("q"), nodes=(node("a", holds=(reserved,)),)).reasons["q"]
    assert "node a is reserved for another tenant, and" in reason.sentence
    assert reason.hint == "with a time limit of at most 60 minutes it would start now"


def test_nodes_that_are_down_as_well_are_the_reason() -> None:
    nodes = (node("a", cores=1, holds=(MAINTENANCE,)), node("b", ready=False))
    assert decide(queued("q", component(cores=8)), nodes=nodes).reasons["q"].code is ReasonCode.NODES_AWAY


def test_behind_others_it_is_told_its_own_reason() -> None:
    busy = started(queued("busy", component(cores=8), time_limit_s=DAY_S), "a")
    large = queued("large", component(cores=8), time_limit_s=DAY_S)
    behind = [queued("q", at_s=1.0), queued("limited", at_s=2.0, time_limit_s=2 * DAY_S)]
    reasons = decide(large, *behind, nodes=(node("a", holds=(MAINTENANCE,)),), active=(busy,)).reasons
    codes = [reasons[name].code for name in ("large", "q", "limited")]
    assert codes == [ReasonCode.NO_RESOURCES, ReasonCode.WINDOW_AHEAD, ReasonCode.BEHIND_IN_QUEUE]
