"""Workflows: executions that belong together and run after each other."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from zoe_api.access.access import AsReader, AsSubmitter, check
from zoe_api.access.visibility import note_look, seen_execution
from zoe_api.executions.arrays import cancel as cancel_array
from zoe_api.executions.cancelling import cancel
from zoe_api.executions.submitting import IdempotencyKey
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.request_context import PREFIX
from zoe_api.http.routing import api_router
from zoe_api.questions.bounded import Bound, question
from zoe_api.services.dependencies import Caller, answered, checking
from zoe_api.workflows.checking import is_short, validate
from zoe_api.workflows.promises import accept_workflow, requests_promise, whole_promise
from zoe_api.workflows.resuming import resume
from zoe_api.workflows.runs import plan, submit
from zoe_api.workflows.views import workflow_summary, workflow_view
from zoe_client.vocabulary import TERMINAL_STATES
from zoe_client.wire import (
    AcceptRequest,
    PromisePlan,
    WorkflowList,
    WorkflowOf,
    WorkflowPlan,
    WorkflowRequest,
    WorkflowView,
)
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.domain.applications.sharing import ALL
from zoe_lib.store.documents.cursors import decode_cursor, encode_position
from zoe_lib.store.people import Principal
from zoe_lib.store.workflow_values import StoredWorkflow, WorkflowQuery

router = api_router("/workflows", tag="workflows")
_PAGE_MAX = 100
"""Each has up to 1,000 steps, whose states are read."""
_NOT_PROMISED = "a resumed workflow runs without a promise"


@router.post("", status_code=201, response_model=WorkflowView)
def submit_workflow(
    body: WorkflowRequest,
    caller: AsSubmitter,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> WorkflowView:
    """Submit all steps of a workflow in one transaction; none, if anything is wrong. The same idempotency key returns
    the same workflow.
    """
    workflow_id, notes = submit(body, caller, idempotency_key)
    response.headers["Location"] = f"{PREFIX}/workflows/{workflow_id}"
    return _view_of_workflow(caller, workflow_id).model_copy(update={"notes": list(notes)})


@router.post(":validate", response_model=WorkflowPlan)
@question(Bound.PROCESS)
def validate_workflow(body: WorkflowRequest, caller: AsReader) -> Response:
    """Check a workflow, and return its compiled executions. Nothing is stored."""
    given = caller.principal, caller.request.state.terms, body
    with checking(caller):
        return Response(answered(caller, is_short(body.document), validate, *given), media_type="application/json")


@router.post(":plan", response_model=PromisePlan)
@question(Bound.PROCESS, Bound.STEPS_OF_MASTER)
def plan_workflow(body: WorkflowRequest, caller: AsReader) -> PromisePlan:
    """Show the promise for a workflow submitted now with this `finish_by`, or the offers. Nothing is stored. 429
    `plan_busy` while the master computes other plans.
    """
    with checking(caller):
        return plan(body, caller)


@router.get("", response_model=WorkflowList)
def list_workflows(
    caller: AsReader,
    all_tenants: Annotated[bool, Query(description="For operators.")] = False,
    limit: Annotated[int, Query(ge=1)] = 50,
    cursor: str | None = None,
) -> WorkflowList:
    """List your workflows and those shared with you, newest first; for operators, those of the tenant or all."""
    if all_tenants:
        check(caller.principal, Scope.OPERATE)
    if caller.principal.operator:
        note_look(caller, caller.request.url.path)
    number = min(limit, _PAGE_MAX, caller.services.settings.api_page_max)
    query = WorkflowQuery(
        visibility=ALL if all_tenants else caller.principal.visibility,
        limit=number + 1,
        before=None if cursor is None else decode_cursor(cursor),
    )
    found = list(caller.store.workflows.page(query))
    last = found[number - 1] if len(found) > number else None
    return WorkflowList(
        workflows=[workflow_summary(workflow) for workflow in found[:number]],
        next_cursor=None if last is None else encode_position((last.submitted_at_s, last.id)),
    )


@router.get("/of/{execution_id}", response_model=WorkflowOf)
def find_workflow(execution_id: str, caller: AsReader) -> WorkflowOf:
    """Return the workflow to which an execution belongs."""
    execution = seen_execution(caller, execution_id)
    return WorkflowOf(workflow_id=caller.store.workflows.of_execution(execution.id))


@router.get("/{workflow_id}", response_model=WorkflowView)
def show_workflow(workflow_id: str, caller: AsReader) -> WorkflowView:
    """Return a workflow with the steps whose executions are visible to you; its document if it is yours."""
    found = _visible_workflow(caller, workflow_id)
    if caller.principal.operator and not _is_owner(caller.principal, found):
        note_look(caller, f"{PREFIX}/workflows/{found.id}")
    return _view(caller, found)


@router.post("/{workflow_id}/accept", response_model=WorkflowView)
def accept_workflow_offer(workflow_id: str, body: AcceptRequest, caller: AsSubmitter) -> WorkflowView:
    """Accept an offer for all steps of a workflow whose deadline cannot be promised. Accepting the same one again
    changes nothing; 409 if offers have expired, or another one was accepted.
    """
    accept_workflow(caller, _visible_workflow(caller, workflow_id), body.offer)
    return _view_of_workflow(caller, workflow_id)


@router.post("/{workflow_id}/cancel", response_model=WorkflowView)
def cancel_workflow(workflow_id: str, caller: AsSubmitter) -> WorkflowView:
    """Cancel all steps that have not ended. Idempotent; an ended workflow stays unchanged."""
    found = _visible_workflow(caller, workflow_id)
    # The last step first: otherwise a step that runs after a failure would start because of the cancellation.
    for step in reversed(found.steps):
        if step.state in TERMINAL_STATES:
            continue
        try:
            stop = cancel_array if step.entries is not None else cancel
            stop(caller, step.execution_id)
        except ApiProblem as refusal:
            if refusal.problem.code != Code.ALREADY_ENDED:
                raise
    return _view_of_workflow(caller, workflow_id)


@router.post("/{workflow_id}/resume", response_model=WorkflowView)
def resume_workflow(
    workflow_id: str,
    caller: AsSubmitter,
    idempotency_key: IdempotencyKey = None,
) -> WorkflowView:
    """Run unsuccessful steps and their dependents again; results of the other steps are reused. 409 if it has not
    ended, or if every step has succeeded. For its owner only, since steps run as the owner.
    """
    found = _visible_workflow(caller, workflow_id)
    if not _is_owner(caller.principal, found) or any(step.user != caller.user for step in found.steps):
        raise ApiProblem(Code.SHARE_TOO_LOW, "only its owner can resume a workflow", f"ask {found.user}")
    resume(found, caller, idempotency_key)
    shown = _view_of_workflow(caller, workflow_id)
    return shown.model_copy(update={"notes": [_NOT_PROMISED]}) if requests_promise(found) else shown


def _visible_workflow(caller: Caller, workflow_id: str) -> StoredWorkflow:
    """Return a workflow with an execution visible to the principal; operators see those of all tenants."""
    return caller.store.workflows.workflow(
        workflow_id, ALL if caller.principal.operator else caller.principal.visibility
    )


def _is_owner(principal: Principal, workflow: StoredWorkflow) -> bool:
    return (principal.tenant, principal.user) == (workflow.tenant, workflow.user)


def _view_of_workflow(caller: Caller, workflow_id: str) -> WorkflowView:
    return _view(caller, _visible_workflow(caller, workflow_id))


def _view(caller: Caller, found: StoredWorkflow) -> WorkflowView:
    return workflow_view(
        found, caller.principal.operator or _is_owner(caller.principal, found), whole_promise(caller.services, found)
    )
