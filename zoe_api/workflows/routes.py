"""Workflows: executions that belong together and run after each other."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response

from zoe_api.access.access import Reader, Submitter, check
from zoe_api.access.visibility import note_look, visible_execution
from zoe_api.executions.arrays import cancel as cancel_array
from zoe_api.executions.cancelling import cancel
from zoe_api.executions.submitting import IdempotencyKey
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.request_context import PREFIX
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import Services, ServicesDep, checking
from zoe_api.workflows.promises import accept_whole, asked_for_promise, whole_promise
from zoe_api.workflows.resuming import resume
from zoe_api.workflows.runs import all_checked, compiled, place_of, plan, submit
from zoe_api.workflows.views import workflow_plan, workflow_summary, workflow_view
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
_NOT_PROMISED = "what is resumed runs without a promise"


@router.post("", status_code=201, response_model=WorkflowView)
def submit_workflow(
    body: WorkflowRequest,
    request: Request,
    response: Response,
    principal: Submitter,
    services: ServicesDep,
    idempotency_key: IdempotencyKey = None,
) -> WorkflowView:
    """Submit all steps of a workflow in one transaction; none, if anything is wrong. The same idempotency key returns
    the same workflow.
    """
    workflow_id, notes = submit(body, services, principal, request, idempotency_key)
    response.headers["Location"] = f"{PREFIX}/workflows/{workflow_id}"
    return _shown(services, principal, workflow_id).model_copy(update={"notes": list(notes)})


@router.post(":validate", response_model=WorkflowPlan)
def validate_workflow(
    body: WorkflowRequest, request: Request, principal: Reader, services: ServicesDep
) -> WorkflowPlan:
    """Check a workflow, and return the executions to which it is compiled. Nothing is stored."""
    with checking(services, principal):
        whole = compiled(body, place_of(services, "WORKFLOW"))
        fits = all_checked(whole.steps, services, principal, request)
    return workflow_plan(whole, list(dict.fromkeys(note for fit in fits for note in fit.notes)))


@router.post(":plan", response_model=PromisePlan)
def plan_workflow(body: WorkflowRequest, request: Request, principal: Reader, services: ServicesDep) -> PromisePlan:
    """Say what would be promised to a workflow if it were submitted now with this `finish_by`, or what would be offered
    instead. Nothing is stored. 429 `plan_busy` while the master computes other plans.
    """
    with checking(services, principal):
        return plan(body, services, principal, request)


@router.get("", response_model=WorkflowList)
def list_workflows(
    request: Request,
    principal: Reader,
    services: ServicesDep,
    all_tenants: Annotated[bool, Query(description="For operators.")] = False,
    limit: Annotated[int, Query(ge=1)] = 50,
    cursor: str | None = None,
) -> WorkflowList:
    """List your workflows and those shared with you, newest first; for operators, those of the tenant or all."""
    if all_tenants:
        check(principal, Scope.OPERATE)
    if principal.operator:
        note_look(services, principal, request, request.url.path)
    number = min(limit, _PAGE_MAX, services.settings.api_page_max)
    query = WorkflowQuery(
        visibility=ALL if all_tenants else principal.visibility,
        limit=number + 1,
        before=None if cursor is None else decode_cursor(cursor),
    )
    found = list(services.store.workflows.page(query))
    last = found[number - 1] if len(found) > number else None
    return WorkflowList(
        workflows=[workflow_summary(one) for one in found[:number]],
        next_cursor=None if last is None else encode_position((last.submitted_at_s, last.id)),
    )


@router.get("/of/{execution_id}", response_model=WorkflowOf)
def find_workflow(execution_id: str, request: Request, principal: Reader, services: ServicesDep) -> WorkflowOf:
    """Return the workflow to which an execution belongs."""
    execution = visible_execution(services, principal, execution_id, request)
    return WorkflowOf(workflow_id=services.store.workflows.of_execution(execution.id))


@router.get("/{workflow_id}", response_model=WorkflowView)
def show_workflow(workflow_id: str, request: Request, principal: Reader, services: ServicesDep) -> WorkflowView:
    """Return a workflow with the steps whose executions you see; its document if it is yours."""
    found = _seen(services, principal, workflow_id)
    if principal.operator and not _owns(principal, found):
        note_look(services, principal, request, f"{PREFIX}/workflows/{found.id}")
    return _view(services, principal, found)


@router.post("/{workflow_id}/accept", response_model=WorkflowView)
def accept_workflow_offer(
    workflow_id: str, body: AcceptRequest, request: Request, principal: Submitter, services: ServicesDep
) -> WorkflowView:
    """Accept one of the offers of a workflow that cannot be promised to end as it was asked for, for all of its steps.
    Accepting the same one again changes nothing; 409 if offers are over, or another one was accepted.
    """
    accept_whole(services, principal, _seen(services, principal, workflow_id), body.offer, request)
    return _shown(services, principal, workflow_id)


@router.post("/{workflow_id}/cancel", response_model=WorkflowView)
def cancel_workflow(workflow_id: str, request: Request, principal: Submitter, services: ServicesDep) -> WorkflowView:
    """Cancel all steps that have not ended. Idempotent; a workflow that has ended stays as it is."""
    found = _seen(services, principal, workflow_id)
    # The last first: else a step that runs after a failure would start because of the cancellation.
    for step in reversed(found.steps):
        if step.state in TERMINAL_STATES:
            continue
        try:
            stop = cancel_array if step.entries is not None else cancel
            stop(services, principal, step.execution_id, request)
        except ApiProblem as refusal:
            if refusal.problem.code != Code.ALREADY_ENDED:
                raise
    return _shown(services, principal, workflow_id)


@router.post("/{workflow_id}/resume", response_model=WorkflowView)
def resume_workflow(
    workflow_id: str,
    request: Request,
    principal: Submitter,
    services: ServicesDep,
    idempotency_key: IdempotencyKey = None,
) -> WorkflowView:
    """Run the steps again that have not succeeded, and those that run after them; the results of the others are used
    again. 409 if it has not ended, or if every step has succeeded. For its owner only, since steps run as the owner.
    """
    found = _seen(services, principal, workflow_id)
    if not _owns(principal, found) or any(step.user != principal.user for step in found.steps):
        raise ApiProblem(Code.SHARE_TOO_LOW, "only its owner resumes a workflow", f"ask {found.user}")
    resume(found, services, principal, request, idempotency_key)
    shown = _shown(services, principal, workflow_id)
    return shown.model_copy(update={"notes": [_NOT_PROMISED]}) if asked_for_promise(found) else shown


def _seen(services: Services, principal: Principal, workflow_id: str) -> StoredWorkflow:
    """Return a workflow of which the principal sees an execution; operators see those of all tenants."""
    return services.store.workflows.one(workflow_id, ALL if principal.operator else principal.visibility)


def _owns(principal: Principal, workflow: StoredWorkflow) -> bool:
    return (principal.tenant, principal.user) == (workflow.tenant, workflow.user)


def _shown(services: Services, principal: Principal, workflow_id: str) -> WorkflowView:
    return _view(services, principal, _seen(services, principal, workflow_id))


def _view(services: Services, principal: Principal, found: StoredWorkflow) -> WorkflowView:
    return workflow_view(found, principal.operator or _owns(principal, found), whole_promise(services, found))
