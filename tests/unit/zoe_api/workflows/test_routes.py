"""Workflows: permission to cancel and resume them, and continued lists."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.applications import execution
from tests.support.plain_api import PEER, TENANT, USER, after, caller_of, operator, person, refusal, request, services
from tests.support.plain_workflows import step, workflow
from zoe_api.http.problems.codes import Code
from zoe_api.workflows import routes as workflows
from zoe_client.vocabulary import ExecutionState
from zoe_lib.domain.applications.sharing import ALL, ShareLevel
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Outcome
from zoe_lib.store.workflow_values import StoredWorkflow


class Stored:
    def __init__(self, *found: StoredWorkflow) -> None:
        self.found = found
        self.asked: list[Any] = []

    def workflow(self, workflow_id: str, visibility: Any) -> StoredWorkflow:
        self.asked.append(visibility)
        return self.found[0]

    def page(self, query: Any) -> Any:
        self.asked.append(query)
        return self.found[: query.limit]


WAITING = [after(execution(n), ev.Submitted(at_s=1.0), ev.Queued(at_s=1.0)) for n in (1, 2)]
STEPS = tuple(
    replace(step(ExecutionState.QUEUED, name=str(n)), execution_id=execution.id) for n, execution in enumerate(WAITING)
)


def there(*found: StoredWorkflow) -> Any:
    made = services(*WAITING)
    made.store.workflows = Stored(*(found or (workflow(*STEPS, run=1),)))
    return made


def test_a_workflow_is_cancelled_from_its_end() -> None:
    made = there(workflow(*STEPS, step(ExecutionState.SUCCEEDED, name="done")))
    workflows.cancel_workflow("w1", caller_of(made, person(), request()))
    cancelled = [entry.execution_id for entry in made.store.journal(0, 10)]
    assert cancelled == ["execution-0002", "execution-0001"]
    ended = after(WAITING[1], ev.Refused(at_s=2.0, outcome=Outcome.FAILED, cause=Cause.NEVER_FITS))
    again = there()
    again.store._state.put(ended)
    workflows.cancel_workflow("w1", caller_of(again, person(), request()))
    assert again.store.execution("execution-0001").state is ExecutionState.CANCELLED


def test_another_refusal_of_a_cancellation_is_told() -> None:
    made = there()
    for waiting in WAITING:
        made.accounts.shared[waiting.id, TENANT, PEER] = ShareLevel.LOOK
    with refusal(Code.SHARE_TOO_LOW):
        workflows.cancel_workflow("w1", caller_of(made, person(PEER), request()))


@pytest.mark.parametrize(
    ("principal", "user", "allowed"),
    [(person(), USER, True), (person(PEER), USER, False), (operator(), USER, False), (person(), PEER, False)],
)
def test_only_the_owner_of_all_steps_resumes(
    principal: Any, user: str, allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    resumed: list[Any] = []
    monkeypatch.setattr(workflows, "resume", lambda *given: resumed.append(given))
    made = there(workflow(STEPS[0], replace(STEPS[1], user=user)))
    if allowed:
        assert workflows.resume_workflow("w1", caller_of(made, principal, request())).notes == []
        assert len(resumed) == 1
        return
    with refusal(Code.SHARE_TOO_LOW):
        workflows.resume_workflow("w1", caller_of(made, principal, request()))
    assert resumed == []


def test_resumed_workflow_runs_without_its_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workflows, "resume", lambda *_: None)
    promised = replace(STEPS[0], facts={**STEPS[0].facts, "promised": True})
    told = workflows.resume_workflow("w1", caller_of(there(workflow(promised, run=1)), person(), request()))
    assert told.notes == ["a resumed workflow runs without a promise"]


def test_the_document_is_for_owners_and_operators_whose_look_is_recorded() -> None:
    for principal, document, looks in ((person(), True, 0), (person(PEER), False, 0), (operator(), True, 1)):
        made = there()
        told = workflows.show_workflow("w1", caller_of(made, principal, request()))
        assert bool(told.document) is document
        assert len(made.accounts.entries) == looks
        assert made.store.workflows.asked == [ALL if principal.operator else principal.visibility]


@pytest.mark.parametrize(("limit", "number"), [(1, 1), (2, 2), (500, 3)])
def test_a_list_goes_on_behind_its_last(limit: int, number: int) -> None:
    made = there(*(workflow(*STEPS, submitted_at_s=float(9 - n)) for n in range(3)))
    told = workflows.list_workflows(caller_of(made, person(), request()), limit=limit)
    assert len(told.workflows) == number
    assert (told.next_cursor is None) is (number == 3)
    assert made.store.workflows.asked[0].limit == min(limit, 100) + 1
    if told.next_cursor is not None:
        workflows.list_workflows(caller_of(made, person(), request()), cursor=told.next_cursor)
        assert made.store.workflows.asked[1].before == (float(9 - number + 1), "w1")


def test_lists_of_all_tenants_are_for_operators() -> None:
    made = there()
    workflows.list_workflows(caller_of(made, operator(), request()), all_tenants=True)
    assert made.store.workflows.asked[0].visibility == ALL
    assert len(made.accounts.entries) == 1
    with refusal(Code.ROLE_MISSING):
        workflows.list_workflows(caller_of(made, person(), request()), all_tenants=True)
