"""Steps of a workflow with a common promise."""

from __future__ import annotations

from dataclasses import replace

from tests.support.applications import execution
from tests.support.plain_api import caller_of, person, refusal, request, services
from tests.support.plain_workflows import step, workflow
from zoe_api.http.problems.codes import Code
from zoe_api.workflows import promises as workflow_promises
from zoe_client.vocabulary import Cause, ExecutionState

PLAIN = step(ExecutionState.SUBMITTED)
PROMISED = replace(PLAIN, execution_id="execution-0001", facts={**PLAIN.facts, "promised": True})
AFTER_A_FAILURE = replace(PLAIN, execution_id="execution-0002", facts={**PLAIN.facts, "promised": False})


def test_only_the_first_run_is_promised() -> None:
    assert workflow_promises.requests_promise(workflow(PROMISED, AFTER_A_FAILURE, run=1))
    assert not workflow_promises.requests_promise(workflow(PROMISED, run=2))
    assert not workflow_promises.requests_promise(workflow(PLAIN, AFTER_A_FAILURE, run=1))


def test_only_steps_that_are_promised_together_are_looked_at() -> None:
    there = services(
        execution(1, cause=Cause.NO_PROMISE, message="no room", state=ExecutionState.FAILED),
        execution(2, cause=Cause.NO_PROMISE, message="another", state=ExecutionState.FAILED),
    )
    told = workflow_promises.whole_promise(there, workflow(PROMISED, AFTER_A_FAILURE, run=1))
    assert told is not None
    assert told.why == "no room"
    assert workflow_promises.whole_promise(there, workflow(PLAIN, run=1)) is None


def test_without_a_promise_there_is_nothing_to_accept() -> None:
    with refusal(Code.ILLEGAL_STATE):
        workflow_promises.accept_workflow(caller_of(services(), person(), request()), workflow(PROMISED, run=2), 1)
