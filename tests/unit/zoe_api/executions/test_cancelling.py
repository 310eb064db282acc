"""Cancelling an execution, repeatedly."""

from __future__ import annotations

from tests.support.applications import execution
from tests.support.plain_api import REQUEST_ID, after, caller_of, person, refusal, request, services
from tests.support.scheduling import started
from zoe_api.executions.cancelling import cancel, cancellation
from zoe_api.http.problems.codes import Code
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, ExecutionState, Outcome

WAITING = after(execution(1), ev.Submitted(at_s=1.0), ev.Queued(at_s=1.0))


def test_waiting_execution_ends_at_once() -> None:
    made = services(WAITING)
    ended = cancel(caller_of(made, person(), request()), WAITING.id)
    assert (ended.state, ended.cause, ended.message) == (ExecutionState.CANCELLED, Cause.CANCELLED, "cancelled by ada")
    assert cancel(caller_of(made, person(), request()), WAITING.id) == ended
    with refusal(Code.VERSION_MISMATCH):
        cancel(caller_of(made, person(), request()), WAITING.id, '"1"')


def test_running_execution_is_stopped_once() -> None:
    running = started(WAITING, "n1", "n1", "n1", "n1")
    made = services(running)
    event = cancellation(running, caller_of(made, person(), request()))
    assert isinstance(event, ev.Stopping)
    assert (event.outcome, event.cause_id) == (Outcome.CANCELLED, REQUEST_ID)
    stopping = cancel(caller_of(made, person(), request()), WAITING.id)
    assert stopping.state is ExecutionState.STOPPING
    assert cancellation(stopping, caller_of(made, person(), request())) is None


def test_failed_execution_cannot_be_cancelled() -> None:
    failed = after(WAITING, ev.Refused(at_s=2.0, outcome=Outcome.FAILED, cause=Cause.NEVER_FITS))
    with refusal(Code.ALREADY_ENDED) as found:
        cancel(caller_of(services(failed), person(), request()), WAITING.id)
    assert found.problem.detail == "its state is failed"
