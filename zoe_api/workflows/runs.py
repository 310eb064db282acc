"""Submit the steps of a workflow as executions, and as arrays where a step runs for each entry of a list."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog
from sqlalchemy import Connection

from zoe_api.arrays.whole_promises import planned_promise
from zoe_api.executions.submissions.budgets import check_budget
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem, problem_of
from zoe_api.services.dependencies import Caller, Services, answered
from zoe_api.workflows.checking import is_short, make_executions, promised_members
from zoe_client.wire import PromisePlan, WorkflowRequest
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.store.errors import BatchRefused, NotFound
from zoe_lib.store.quotas import check_owner
from zoe_lib.store.sql.batch import workflows as rows
from zoe_lib.store.values import ArraysBeside
from zoe_lib.store.workflow_values import NewWorkflow
from zoe_lib.submission.ids import new_workflow_id
from zoe_lib.submission.pricing import price_notes
from zoe_lib.submission.workflows import new_step, unknown_price_notes

log = structlog.get_logger(__name__)


def submit(body: WorkflowRequest, caller: Caller, key: str | None) -> tuple[str, Sequence[str]]:
    """Store a workflow and its executions, once per key; return its id and notes for its user."""
    fingerprint = fingerprint_of("run", body.model_dump())
    # A repeated request that was accepted is never refused, and not checked again, which takes longest.
    if (known := known_run(caller, key, fingerprint)) is not None:
        return known, ()
    workflow_id, now_s = new_workflow_id(), caller.services.clock.now_s()
    warnings = check_budget(caller)
    terms = caller.request.state.terms
    made = make_executions(caller.services, caller.principal, terms, body, workflow_id, now_s)
    whole, fits, parts = made.whole, made.fits, made.parts
    new = NewWorkflow(workflow_id, whole.name, caller.tenant, caller.user, body.document, whole.parameters, now_s)
    by_id = {execution.id: execution for execution in parts.executions}
    steps = [new_step(i, whole, by_id.get(text, text)) for i, text in enumerate(made.ids)]
    write, arrays = partial(rows.add, workflow=new, steps=steps), ArraysBeside(parts.arrays)
    by = RequestKey(key, fingerprint)
    stored = stored_parts(caller, parts.executions, by, write, arrays)
    if stored[0].id != parts.executions[0].id:
        return _workflow_of(caller.services, stored[0].id), ()
    log.info("submitted a workflow", workflow=workflow_id, steps=len(steps), tenant=new.tenant, user=new.user)
    price = price_notes(
        caller.services, caller.principal, [(execution.application, 1) for execution in parts.executions]
    )
    notes = [*warnings, *price, *unknown_price_notes(whole, price), *(note for fit in fits for note in fit.notes)]
    return workflow_id, list(dict.fromkeys(notes))


def plan(body: WorkflowRequest, caller: Caller) -> PromisePlan:
    """Return the promise for a workflow submitted now; nothing is stored."""
    if body.finish_by is None:
        raise ApiProblem(
            Code.INVALID_REQUEST, "a plan needs the time by which the whole workflow should end: finish_by"
        )
    warnings = check_budget(caller)
    given = caller.principal, caller.request.state.terms, body, new_workflow_id(), caller.services.clock.now_s()
    members, notes = answered(caller, is_short(body.document), promised_members, *given)
    if not members:
        raise ApiProblem(Code.INVALID_REQUEST, "none of its steps can be promised: all run after a failure")
    promise = planned_promise(caller, members)
    return PromisePlan(promise=promise, notes=list(dict.fromkeys([*warnings, *notes])))


@dataclass(frozen=True, slots=True)
class RequestKey:
    """An idempotency key, and the fingerprint of its request."""

    key: str | None
    fingerprint: str


def stored_parts(
    caller: Caller,
    executions: Sequence[Execution],
    by: RequestKey,
    write: Callable[[Connection], None],
    arrays: ArraysBeside,
) -> Sequence[Execution]:
    """Write the executions and their records in one transaction; return them as stored."""
    try:
        stored = caller.store.submit_all(executions, caller.request_id, by.key, by.fingerprint, write, arrays)
    except BatchRefused as refusal:
        why = problem_of(refusal.reason).problem
        detail = f"none of its {len(executions)} executions was submitted: {why.detail}"
        raise ApiProblem(Code(why.code), detail, why.hint) from None
    if stored:
        check_owner(stored[0], caller.user)
    caller.services.master.hint()
    return stored


def known_run(caller: Caller, key: str | None, fingerprint: str) -> str | None:
    """Return the workflow that was submitted with this key before; IdempotencyConflict."""
    if key is None:
        return None
    stored = caller.store.submitted_all_with(caller.tenant, key, fingerprint, 1)
    found = stored[0] if stored else caller.store.array_submitted_with(caller.tenant, key, fingerprint)
    if found is None:
        return None
    check_owner(found, caller.user)
    return _workflow_of(caller.services, found.id)


def _workflow_of(services: Services, execution_id: str) -> str:
    found = services.store.workflows.of_execution(execution_id)
    if found is None:
        raise NotFound("the workflow of this idempotency key was removed")
    return found


def fingerprint_of(*parts: Any) -> str:
    """Return a fingerprint that distinguishes requests about workflows with the same idempotency key."""
    return hashlib.sha256(json.dumps(["workflow", *parts], sort_keys=True).encode()).hexdigest()
