"""Submit the steps of a workflow as executions: all of them at first, and those that are left when it is resumed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog
from fastapi import Request
from sqlalchemy import Connection

from zoe_api.budgets import check_budget
from zoe_api.codes import Code
from zoe_api.dependencies import Services
from zoe_api.problems import ApiProblem, as_problems, problem_of
from zoe_api.whole_promises import planned_promise
from zoe_api.workflow_views import has_ended, step_state
from zoe_client.wire import PromisePlan, StepState, WorkflowRequest
from zoe_lib.domain.execution import Execution
from zoe_lib.domain.finish_times import CONFIDENCE, PromiseWish, budget_text
from zoe_lib.store.errors import BatchRefused, NotFound
from zoe_lib.store.people import Principal
from zoe_lib.store.quotas import check_owner
from zoe_lib.store.sql import workflows as rows
from zoe_lib.store.workflow_values import NewWorkflow, StoredWorkflow
from zoe_lib.submission import workflows as making
from zoe_lib.submission.checking import Checked
from zoe_lib.submission.ids import new_execution_id, new_workflow_id
from zoe_lib.submission.pricing import price_notes
from zoe_lib.submission.workflows import execution_of, new_step, step_conditions
from zoe_lib.workflows import CompiledStep, CompiledWorkflow, RunPlace

log = structlog.get_logger(__name__)


def compiled(body: WorkflowRequest, place: RunPlace) -> CompiledWorkflow:
    """Return what a workflow is compiled to; 422 with everything that is wrong with it."""
    with as_problems():
        return making.compiled(body.document, body.parameters, place)


def place_of(services: Services, workflow_id: str, run: int = 1, kept: Mapping[str, int] | None = None) -> RunPlace:
    """Return where a run keeps its results."""
    return RunPlace(workflow_id, run, services.settings.workflow_results_kept_s, kept)


def all_checked(
    steps: Sequence[CompiledStep], services: Services, principal: Principal, request: Request
) -> list[Checked]:
    """Return what may run of each step; 422 with what stands in the way."""
    with as_problems():
        return making.all_checked(steps, services, principal, request.state.terms)


def submit(
    body: WorkflowRequest, services: Services, principal: Principal, request: Request, key: str | None
) -> tuple[str, Sequence[str]]:
    """Store a workflow and its executions, once per key; return its id and notes for its user."""
    fingerprint = _fingerprint("run", body.model_dump())
    # What was accepted is not refused when it is repeated, and is not checked again, which takes longest.
    if (known := _known(services, principal, key, fingerprint)) is not None:
        return known, ()
    workflow_id, now_s = new_workflow_id(), services.clock.now_s()
    warnings = check_budget(services, principal)
    made = _made(body, services, principal, request, workflow_id, now_s)
    whole, fits, executions = made.whole, made.fits, made.executions
    ids = [one.id for one in executions]
    new = NewWorkflow(workflow_id, whole.name, principal.tenant, principal.user, body.document, whole.parameters, now_s)
    steps = [new_step(i, whole, executions[i]) for i in range(len(ids))]
    write = partial(rows.add, workflow=new, steps=steps)
    stored = _stored(services, executions, principal, request, _Key(key, fingerprint), write)
    if stored[0].id != ids[0]:
        return _workflow_of(services, stored[0].id), ()
    log.info("submitted a workflow", workflow=workflow_id, steps=len(ids), tenant=new.tenant, user=new.user)
    price = price_notes(services, principal, [(fit.application, 1) for fit in fits])
    return workflow_id, list(dict.fromkeys([*warnings, *price, *(note for fit in fits for note in fit.notes)]))


@dataclass(frozen=True, slots=True)
class _Made:
    """The executions of a workflow, before they are stored."""

    whole: CompiledWorkflow
    fits: Sequence[Checked]
    executions: list[Execution]


def _made(
    body: WorkflowRequest, services: Services, principal: Principal, request: Request, workflow_id: str, now_s: float
) -> _Made:
    whole = compiled(body, place_of(services, workflow_id))
    fits = all_checked(whole.steps, services, principal, request)
    ids = [new_execution_id() for _ in whole.steps]
    with as_problems():
        executions = [
            execution_of(execution_id, step, fit, step_conditions(step, ids, now_s), principal, now_s)
            for execution_id, step, fit in zip(ids, whole.steps, fits, strict=True)
        ]
    if body.finish_by is not None:
        wish = PromiseWish(body.confidence or CONFIDENCE, budget_text(body.budget))
        with as_problems():
            executions = making.promised(executions, workflow_id, wish, body.finish_by, now_s)
    elif body.confidence is not None or body.budget is not None:
        raise ApiProblem(Code.INVALID_REQUEST, "confidence and budget belong to finish_by")
    return _Made(whole, fits, executions)


def plan(body: WorkflowRequest, services: Services, principal: Principal, request: Request) -> PromisePlan:
    """Return what would be promised to a workflow if it were submitted now; nothing is stored."""
    if body.finish_by is None:
        raise ApiProblem(Code.INVALID_REQUEST, "a plan needs the time by which all of it is to end: finish_by")
    warnings = check_budget(services, principal)
    made = _made(body, services, principal, request, new_workflow_id(), services.clock.now_s())
    members = [one for one in made.executions if one.application.promise is not None]
    if not members:
        raise ApiProblem(Code.INVALID_REQUEST, "none of its steps can be promised: all run after a failure")
    promise = planned_promise(services, members, request, principal)
    notes = dict.fromkeys([*warnings, *(note for fit in made.fits for note in fit.notes)])
    return PromisePlan(promise=promise, notes=list(notes))


def resume(
    workflow: StoredWorkflow, services: Services, principal: Principal, request: Request, key: str | None
) -> str:
    """Submit the steps again that have not succeeded, and those that run after them; return the id of the workflow.

    409 if it has not ended, if everything has succeeded, or if results are needed that are not kept any more.
    """
    fingerprint = _fingerprint("resume", workflow.id)
    if (known := _known(services, principal, key, fingerprint)) is not None:
        return known
    if not has_ended(workflow):
        raise ApiProblem(Code.ILLEGAL_STATE, "it has not ended", f"zoe workflow cancel {workflow.id}")
    check_budget(services, principal)
    body = WorkflowRequest(document=dict(workflow.document), parameters=dict(workflow.parameters))
    run = workflow.run + 1
    plain = compiled(body, place_of(services, workflow.id, run))
    again = _again(workflow, plain)
    before = {step.name: step for step in workflow.steps if step.name not in again}
    _check_kept(workflow, plain, again, services)
    whole = compiled(body, place_of(services, workflow.id, run, {name: one.run for name, one in before.items()}))
    ids = [before[one.name].execution_id if one.name in before else new_execution_id() for one in whole.steps]
    left = [(i, one) for i, one in enumerate(whole.steps) if one.name in again]
    fits = all_checked([one for _, one in left], services, principal, request)
    now_s, kept = services.clock.now_s(), {one.execution_id for one in before.values()}
    with as_problems():
        executions = [
            execution_of(ids[i], step, fit, step_conditions(step, ids, now_s, kept), principal, now_s)
            for (i, step), fit in zip(left, fits, strict=True)
        ]
    steps = [new_step(i, whole, ids[i]) for i, _ in left]
    write = partial(rows.add_run, workflow_id=workflow.id, run=run, steps=steps)
    _stored(services, executions, principal, request, _Key(key, fingerprint), write)
    log.info("resumed a workflow", workflow=workflow.id, run=run, steps=len(left), user=principal.user)
    return workflow.id


def _again(workflow: StoredWorkflow, plain: CompiledWorkflow) -> set[str]:
    """Return the names of the steps to run again: those that have not succeeded, and what runs after those."""
    done = {step.name for step in workflow.steps if step_state(step) is StepState.SUCCEEDED}
    again: set[str] = set()
    for step in plain.steps:  # each stands behind those that it runs after
        after = {plain.steps[need.position].name for need in step.after}
        if step.name not in done or after & again:
            again.add(step.name)
    if all(step_state(one) in (StepState.SUCCEEDED, StepState.NOT_NEEDED) for one in workflow.steps):
        raise ApiProblem(Code.ILLEGAL_STATE, "every step has succeeded: there is nothing to resume")
    return again


def _check_kept(workflow: StoredWorkflow, plain: CompiledWorkflow, again: set[str], services: Services) -> None:
    if len(workflow.steps) != len(plain.steps):
        raise ApiProblem(Code.ILLEGAL_STATE, "executions of it were removed since", "run it anew")
    needed = any(step.paths for step in plain.steps if step.name not in again)
    last_s = max((step.ended_at_s or 0.0 for step in workflow.steps), default=0.0)
    if needed and last_s + services.settings.workflow_results_kept_s < services.clock.now_s():
        raise ApiProblem(Code.ILLEGAL_STATE, "its results are not kept any more", "run it anew")


@dataclass(frozen=True, slots=True)
class _Key:
    """An idempotency key, and what tells requests with it apart."""

    key: str | None
    fingerprint: str


def _stored(
    services: Services,
    executions: list[Execution],
    principal: Principal,
    request: Request,
    by: _Key,
    write: Callable[[Connection], None],
) -> Sequence[Execution]:
    """Write the executions, and what belongs to them, in one transaction."""
    try:
        stored = services.store.submit_all(executions, request.state.request_id, by.key, by.fingerprint, write)
    except BatchRefused as refusal:
        why = problem_of(refusal.reason).problem
        detail = f"none of its {len(executions)} executions was submitted: {why.detail}"
        raise ApiProblem(Code(why.code), detail, why.hint) from None
    check_owner(stored[0], principal.user)
    services.master.hint()
    return stored


def _known(services: Services, principal: Principal, key: str | None, fingerprint: str) -> str | None:
    """Return the workflow that was submitted with this key before; IdempotencyConflict."""
    stored = key and services.store.submitted_all_with(principal.tenant, key, fingerprint, 1)
    if not stored:
        return None
    check_owner(stored[0], principal.user)
    return _workflow_of(services, stored[0].id)


def _workflow_of(services: Services, execution_id: str) -> str:
    found = services.store.workflows.of_execution(execution_id)
    if found is None:
        raise NotFound("the workflow of this idempotency key was removed")
    return found


def _fingerprint(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(["workflow", *parts], sort_keys=True).encode()).hexdigest()
