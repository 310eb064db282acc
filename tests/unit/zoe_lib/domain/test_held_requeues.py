"""An execution that is being requeued may be held before its next attempt."""

from __future__ import annotations

import pytest

from tests.support.scheduling import queued, started
from zoe_client.vocabulary import Holder, WaitCause
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Mark, Outcome
from zoe_lib.domain.executions.waiting import spans
from zoe_lib.domain.lifecycle.consequences import settle
from zoe_lib.domain.lifecycle.lifecycle import IllegalTransition, apply

HELD, RELEASED = ev.Held(at_s=21.0, by=Holder.USER), ev.Released(at_s=22.0)


def stopping(cause: Cause = Cause.REQUEUED) -> Execution:
    one = started(queued("x"), "n1")
    return apply(one, ev.Stopping(at_s=20.0, outcome=Outcome.FAILED, cause=cause))


def ended(execution: Execution, code: int = 0) -> Execution:
    for service in execution.services:
        if service.alive:
            how = {"service_id": service.id, "exit_code": code, "cause": Cause.EXITED}
            execution = apply(execution, ev.ServiceEnded(at_s=25.0, **how))  # type: ignore[arg-type]
    return settle(execution, 30.0, Policy(), "t")[0]


@pytest.mark.parametrize("code", [0, 3, 137])
def test_a_requeue_wins_over_any_exit_code(code: int) -> None:
    again = ended(stopping(), code)
    assert (again.state, again.attempt, again.failed_attempts) == (ExecutionState.QUEUED, 2, 0)


def test_a_requeue_wins_over_the_time_limit() -> None:
    requeued = ev.Stopping(at_s=21.0, outcome=Outcome.FAILED, cause=Cause.REQUEUED)
    again = ended(apply(stopping(Cause.TIME_LIMIT), requeued), 143)
    assert (again.state, again.attempt) == (ExecutionState.QUEUED, 2)
    for cause in (Cause.EXITED, Cause.REQUEUED, Cause.OUT_OF_MEMORY):
        with pytest.raises(IllegalTransition, match="already stopping"):
            apply(stopping(cause), requeued)
    cancelled = ev.Stopping(at_s=21.0, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED)
    with pytest.raises(IllegalTransition, match="already stopping"):
        apply(apply(stopping(Cause.TIME_LIMIT), cancelled), requeued)


def test_a_held_one_waits_outside_of_the_queue_until_its_release() -> None:
    held = ended(apply(stopping(), HELD))
    assert (held.state, held.attempt, held.conditions.held) == (ExecutionState.SUBMITTED, 2, Holder.USER)
    assert Mark.QUEUED not in held.marks
    assert settle(held, 40.0, Policy(), "t")[1] == []
    again, events = settle(apply(held, ev.Released(at_s=50.0)), 50.0, Policy(), "t")
    assert (again.state, [event.kind for event in events]) == (ExecutionState.QUEUED, ["queued"])


def test_a_release_before_its_end_lets_it_into_the_queue() -> None:
    again = ended(apply(apply(stopping(), HELD), RELEASED))
    assert (again.state, again.conditions.held) == (ExecutionState.QUEUED, None)


@pytest.mark.parametrize("cause", [Cause.EXITED, Cause.TIME_LIMIT, Cause.CANCELLED])
def test_execution_stopping_for_other_causes_cannot_be_held(cause: Cause) -> None:
    with pytest.raises(IllegalTransition, match="not being requeued"):
        apply(stopping(cause), HELD)


def test_the_wait_of_a_held_requeue_begins_when_it_waits_again() -> None:
    told = [
        ev.Stopping(at_s=20.0, outcome=Outcome.FAILED, cause=Cause.REQUEUED),
        HELD,
        ev.Requeued(at_s=25.0, not_before_s=25.0),
    ]
    assert [(span.cause, span.since_s, span.until_s) for span in spans(told, 40.0)] == [
        (WaitCause.CONDITIONS, 25.0, 40.0)
    ]
    assert [span.cause for span in spans([told[0], HELD, RELEASED, told[2]], 40.0)] != [WaitCause.CONDITIONS]
