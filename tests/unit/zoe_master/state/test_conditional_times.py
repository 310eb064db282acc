"""Executions with a latest end are examined at that time, before the queue and in it."""

from __future__ import annotations

from dataclasses import replace

from tests.support.scheduling import queued
from zoe_client.vocabulary import DependencyKind
from zoe_lib.domain.executions.execution import Execution, ExecutionState
from zoe_lib.domain.values.conditions import Conditions, Dependency
from zoe_master.state.conditional import ConditionalExecutions, is_conditional, may_be_late


def taken(kept: ConditionalExecutions[Execution], now_s: float) -> list[str]:
    return [execution.id for execution, _ in kept.take_changed(now_s, 10)]


def test_one_in_the_queue_is_examined_when_it_is_late_and_not_before() -> None:
    after = (Dependency(DependencyKind.FAIL, "a"), Dependency(DependencyKind.FAIL, "b"))
    execution = replace(queued("x"), conditions=Conditions(end_by_s=20.0, after=after, any_of=True))
    assert (is_conditional(execution), may_be_late(execution)) == (False, True)
    kept = ConditionalExecutions[Execution]()
    kept.put(execution)
    kept.note_end("a", ExecutionState.FAILED)  # it has no further condition
    assert (taken(kept, 19.0), kept.next_time_s(19.0), kept.has_unfinished) == ([], 20.0, False)
    assert taken(kept, 20.0) == ["x"]
    kept.remove("x")
    assert (taken(kept, 30.0), kept.next_time_s(10.0)) == ([], None)


def test_one_before_the_queue_has_two_times() -> None:
    execution: Execution = replace(
        queued("x"), state=ExecutionState.SUBMITTED, conditions=Conditions(begin_at_s=10.0, end_by_s=20.0)
    )
    kept = ConditionalExecutions[Execution]()
    kept.put(execution)
    assert taken(kept, 0.0) == ["x"]  # it is new
    assert kept.next_time_s(0.0) == 10.0
    assert (taken(kept, 10.0), kept.next_time_s(10.0)) == (["x"], 20.0)
    assert taken(kept, 20.0) == ["x"]
