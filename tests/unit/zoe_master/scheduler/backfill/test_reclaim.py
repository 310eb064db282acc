"""A core takes its room from elastic services, as few as possible, and never from another core."""

from __future__ import annotations

from dataclasses import replace

from tests.support.scheduling import component, node, queued, started
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.events import ServiceStarting, ServiceStopping, Stopping
from zoe_lib.domain.executions.execution import Cause, Execution, Mark, Outcome
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot


def decide(waiting: list[Execution], active: list[Execution], *nodes: object, preemption: str = "elastic") -> Plan:
    policy = Policy(preemption=preemption)
    return schedule(Snapshot(100.0, nodes, tuple(waiting), tuple(active)), policy)  # type: ignore[arg-type]


def elastic(name: str, *nodes: str, admitted_s: float = 1.0, priority: int = 0) -> Execution:
    """Return an execution with one essential service and an elastic one for each further node, of one core each."""
    one = queued(name, component(essential_count=1, total_count=len(nodes)), priority=priority)
    running = started(one, *nodes)
    return replace(running, marks={**running.marks, Mark.ADMITTED: admitted_s})


def test_a_core_gets_the_room_of_elastic_services_and_no_more_of_them_than_needed() -> None:
    plan = decide([queued("new", component(cores=2))], [elastic("old", "n", "n", "n", "n")], node("n", cores=4))
    assert {k: len(v) for k, v in plan.preempt.items()} == {"old": 2}
    assert plan.reasons["new"].code is ReasonCode.MAKING_ROOM
    assert not plan.starts


def test_cores_are_never_taken_back() -> None:
    running = started(queued("old", component(essential_count=4)), "n", "n", "n", "n")
    plan = decide([queued("new")], [running], node("n", cores=4))
    assert not plan.preempt
    assert plan.reasons["new"].code is ReasonCode.NO_RESOURCES


def test_without_preemption_elastic_services_stay_and_what_leaves_by_itself_is_waited_for() -> None:
    old = elastic("old", "n", "n", "n", "n")
    plan = decide([queued("new", component(cores=2))], [old], node("n", cores=4), preemption="none")
    assert not plan.preempt
    assert plan.reasons["new"].code is ReasonCode.NO_RESOURCES
    leaving = apply(
        started(queued("leaving", component(cores=2)), "n"),
        Stopping(at_s=1.0, outcome=Outcome.SUCCEEDED, cause=Cause.EXITED),
    )
    waits = [queued("new", component(cores=2))]
    plan = decide(waits, [leaving, elastic("old", "n", "n")], node("n", cores=4), preemption="none")
    assert plan.reasons["new"].code is ReasonCode.MAKING_ROOM


def test_free_room_elsewhere_is_used_before_anything_is_taken() -> None:
    plan = decide([queued("new")], [elastic("old", "a", "a", "a")], node("a", cores=3), node("b", cores=1))
    assert list(plan.starts) == ["new"]
    assert not plan.preempt


def test_leaving_execution_is_awaited_before_preempting() -> None:
    leaving = apply(
        started(queued("leaving", component(cores=2)), "n"),
        Stopping(at_s=1.0, outcome=Outcome.SUCCEEDED, cause=Cause.EXITED),
    )
    plan = decide([queued("new", component(cores=2))], [leaving, elastic("old", "n", "n")], node("n", cores=4))
    assert not plan.preempt
    assert plan.reasons["new"].code is ReasonCode.MAKING_ROOM


def test_the_kept_place_goes_neither_to_others_nor_to_elastic_services() -> None:
    old = elastic("old", "n", "n", "n")
    going = old.elastic_services()[0].id
    old = apply(
        apply(old, ServiceStarting(at_s=2.0, service_id=going)),
        ServiceStopping(at_s=3.0, service_id=going, cause=Cause.PREEMPTED),
    )
    waiting = [queued("new", component(cores=2)), queued("small", component(cores=2), at_s=1.0)]
    plan = decide(waiting, [old], node("n", cores=4))
    assert plan.reasons["new"].code is ReasonCode.MAKING_ROOM
    assert not plan.preempt, "one is free and one is leaving: that is enough"
    assert plan.reasons["small"].code is ReasonCode.NO_RESOURCES
    assert not plan.elastic


def test_the_lowest_priority_and_then_the_latest_gives_first() -> None:
    active = [
        elastic("high", "n", "n", priority=5),
        elastic("early", "n", "n", admitted_s=1.0),
        elastic("late", "n", "n", admitted_s=9.0),
    ]
    for needed, givers in ((1, ["late"]), (2, ["early", "late"]), (3, ["early", "high", "late"])):
        plan = decide([queued("new", component(cores=needed), priority=9)], active, node("n", cores=6))
        assert sorted(plan.preempt) == givers


def test_one_large_service_goes_rather_than_two() -> None:
    small = elastic("small", "n", "n", admitted_s=9.0)
    large = started(
        queued("large", component(cores=1), component("e", cores=3, essential_count=0, total_count=1)), "n", "n"
    )
    plan = decide([queued("new", component(cores=3))], [small, large], node("n", cores=6))
    assert {k: len(v) for k, v in plan.preempt.items()} == {"large": 1}
