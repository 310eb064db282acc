"""Conditions that keep an execution from the queue, and the effect of an end on its dependents."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from tests.support.scheduling import queued
from zoe_client.vocabulary import TERMINAL_STATES, DependencyKind, ExecutionState, Holder
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, Mark, Outcome
from zoe_lib.domain.lifecycle.consequences import settle
from zoe_lib.domain.lifecycle.lifecycle import IllegalTransition, apply
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Conditions, Dependency, reason_of
from zoe_lib.domain.values.reasons import ReasonCode

OK, FAIL, ANY = DependencyKind.OK, DependencyKind.FAIL, DependencyKind.ANY


def submitted(conditions: Conditions) -> Execution:
    return replace(queued("x"), state=ExecutionState.SUBMITTED, conditions=conditions, marks={})


def kinds(execution: Execution, now_s: float = 10.0) -> list[str]:
    return [event.kind for event in settle(execution, now_s, Policy(), "t")[1]]


@pytest.mark.parametrize(
    ("kind", "end", "met"),
    [
        (OK, ExecutionState.SUCCEEDED, True),
        (OK, ExecutionState.FAILED, False),
        (OK, ExecutionState.CANCELLED, False),
        (OK, None, False),
        (FAIL, ExecutionState.SUCCEEDED, False),
        (FAIL, ExecutionState.FAILED, True),
        (FAIL, ExecutionState.CANCELLED, True),
        (FAIL, None, False),
        (ANY, ExecutionState.SUCCEEDED, True),
        (ANY, ExecutionState.FAILED, True),
        (ANY, ExecutionState.CANCELLED, True),
        (ANY, None, True),
    ],
)
def test_an_end_decides_a_dependency(kind: DependencyKind, end: ExecutionState | None, met: bool) -> None:
    assert Dependency(kind, "a").is_met_by(end) is met


def test_dependency_is_undecided_before_the_end() -> None:
    for kind, state in product(DependencyKind, set(ExecutionState) - TERMINAL_STATES):
        assert Dependency(kind, "a").is_met_by(state) is None


def test_it_enters_the_queue_when_everything_is_met() -> None:
    after = (Dependency(OK, "a"), Dependency(ANY, "b"))
    execution = submitted(Conditions(begin_at_s=20.0, after=after))
    assert kinds(execution) == []
    for on, state in (("a", ExecutionState.SUCCEEDED), ("b", ExecutionState.FAILED)):
        execution = apply(execution, ev.DependencyEnded(at_s=11.0, on=on, state=state))
    assert kinds(execution, 19.9) == []
    assert kinds(execution, 20.0) == ["queued"]


def test_unmeetable_dependency_fails_the_execution_at_once() -> None:
    execution = submitted(Conditions(after=(Dependency(OK, "a"), Dependency(OK, "b"))))
    execution = apply(execution, ev.DependencyEnded(at_s=11.0, on="b", state=ExecutionState.FAILED))
    after, _ = settle(execution, 11.0, Policy(), "t")
    assert (after.state, after.outcome, after.cause) == (
        ExecutionState.FAILED, Outcome.FAILED, Cause.DEPENDENCY_FAILED
    )  # fmt: skip
    assert "ended otherwise" in after.message


@pytest.mark.parametrize("held", [None, *Holder])
def test_a_hold_does_not_save_it(held: Holder | None) -> None:
    """Otherwise a release of all would run the steps after a failure."""
    conditions = Conditions(held=held, after=(Dependency(OK, "a", False),))
    after, _ = settle(submitted(conditions), 11.0, Policy(), "t")
    assert after.cause is Cause.DEPENDENCY_FAILED


def test_or_holds_it_and_a_release_lets_it_go_on_without_that_one() -> None:
    conditions = Conditions(after=(Dependency(OK, "a"), Dependency(OK, "b", True)), keep=True)
    execution = apply(submitted(conditions), ev.DependencyEnded(at_s=11.0, on="a", state=ExecutionState.CANCELLED))
    held, events = settle(execution, 11.0, Policy(), "t")
    assert [event.kind for event in events] == ["held"]
    assert settle(held, 12.0, Policy(), "t") == (held, [])  # it comes to rest
    reason = reason_of(held.conditions, 12.0)
    assert reason is not None
    assert (reason.code, "ended otherwise" in reason.sentence) == (ReasonCode.HELD, True)
    assert kinds(apply(held, ev.Released(at_s=13.0)), 13.0) == ["queued"]


def test_a_hold_takes_it_out_of_the_queue_and_its_wait_begins_anew() -> None:
    execution = apply(queued("x"), ev.Held(at_s=5.0, by=Holder.OPERATOR, user="root"))
    assert execution.state is ExecutionState.SUBMITTED
    assert Mark.QUEUED not in execution.marks
    assert kinds(execution) == []
    for by in Holder:
        with pytest.raises(IllegalTransition, match="held already"):
            apply(execution, ev.Held(at_s=6.0, by=by))
    back, _ = settle(apply(execution, ev.Released(at_s=7.0)), 8.0, Policy(), "t")
    assert (back.state, back.marks[Mark.QUEUED]) == (ExecutionState.QUEUED, 8.0)


def test_a_later_begin_takes_it_out_of_the_queue_too() -> None:
    execution = queued("x")
    before = ev.Requested.of_execution(execution)
    later = replace(before, begin_at_s=100.0, priority=7)
    changed = apply(execution, ev.Modified(at_s=5.0, before=before, after=later))
    assert (changed.state, changed.priority) == (ExecutionState.SUBMITTED, 7)
    sooner = ev.Modified(at_s=6.0, before=later, after=replace(later, begin_at_s=None))
    assert kinds(apply(changed, sooner), 6.0) == ["queued"]
    past = ev.Modified(at_s=5.0, before=before, after=replace(before, begin_at_s=4.0))
    assert apply(execution, past).state is ExecutionState.QUEUED


def test_other_numbers_of_services_are_no_modification() -> None:
    execution, other = queued("x"), queued("y")
    two = replace(other.application.components[0], essential_count=2, total_count=2)
    application = replace(execution.application, components=(two,))
    before = ev.Requested.of_execution(execution)
    with pytest.raises(IllegalTransition, match="numbers"):
        apply(execution, ev.Modified(at_s=1.0, before=before, after=replace(before, application=application)))


def test_reasons_name_the_longest_lasting() -> None:
    after = tuple(Dependency(OK, f"x{number}") for number in range(5))
    reason = reason_of(Conditions(begin_at_s=50.0, after=after), 1.0)
    assert reason is not None
    assert reason.sentence == "It runs after 5 other executions."
    begin = reason_of(Conditions(begin_at_s=3600.0), 1.0)
    assert begin is not None
    assert (begin.code, begin.sentence) == (
        ReasonCode.BEGIN_TIME, "It does not begin before 1970-01-01 01:00:00 UTC."
    )  # fmt: skip
    assert reason_of(Conditions(begin_at_s=3600.0), 3600.0) is None
    assert reason_of(NO_CONDITIONS, 1.0) is None


def test_one_of_several_is_enough() -> None:
    watched = Conditions(after=(Dependency(FAIL, "a"), Dependency(FAIL, "b"), Dependency(FAIL, "c")), any_of=True)
    execution = submitted(watched)
    execution = apply(execution, ev.DependencyEnded(at_s=11.0, on="a", state=ExecutionState.SUCCEEDED))
    assert kinds(execution) == []
    execution = apply(execution, ev.DependencyEnded(at_s=11.0, on="b", state=ExecutionState.FAILED))
    assert kinds(execution) == ["queued"]


def test_it_ends_when_none_of_several_can_be_met() -> None:
    execution = submitted(Conditions(after=(Dependency(FAIL, "a"), Dependency(FAIL, "b")), any_of=True))
    for on in ("a", "b"):
        assert kinds(execution) == []
        execution = apply(execution, ev.DependencyEnded(at_s=11.0, on=on, state=ExecutionState.SUCCEEDED))
    after, _ = settle(execution, 11.0, Policy(), "t")
    assert (after.state, after.cause) == (ExecutionState.CANCELLED, Cause.DEPENDENCY_FAILED)


@pytest.mark.parametrize("held", [None, Holder.USER])
def test_late_waiting_execution_fails(held: Holder | None) -> None:
    execution = submitted(Conditions(held=held, begin_at_s=5.0 if held else 50.0, end_by_s=20.0))
    assert kinds(execution, 19.9) == []
    late, _ = settle(execution, 20.0, Policy(), "t")
    in_queue, _ = settle(replace(queued("x"), conditions=Conditions(end_by_s=20.0)), 20.0, Policy(), "t")
    for ended in (late, in_queue):
        assert (ended.state, ended.cause) == (ExecutionState.FAILED, Cause.TIME_LIMIT)
