"""Submissions: one execution, or several in one transaction."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import structlog
from fastapi import Header, Response

from zoe_api.access.access import AsSubmitter
from zoe_api.access.representation import view_of_execution
from zoe_api.access.wire_forms import execution_summary
from zoe_api.executions.families import cancel_unit
from zoe_api.executions.submissions.budgets import check_budget
from zoe_api.executions.submissions.conditions import conditions_of
from zoe_api.executions.submissions.job_submissions import note_submission, refused_after, was_stopped
from zoe_api.http.problems.codes import PROBLEMS, Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import Caller
from zoe_client.wire import (
    BatchRequest,
    Diagnostic,
    ExecutionBatch,
    ExecutionView,
    SubmitRequest,
)
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.conditions import Conditions
from zoe_lib.store.errors import BatchRefused
from zoe_lib.store.people import Principal
from zoe_lib.store.quotas import check_owner
from zoe_lib.store.sql.installation.installation import TermsVersions
from zoe_lib.submission.checking import Checked, check_description
from zoe_lib.submission.deadlines import deadline_of
from zoe_lib.submission.ids import new_execution_id
from zoe_lib.submission.pricing import price_notes
from zoe_lib.submission.refusal import SubmissionRefused, from_limits

log = structlog.get_logger(__name__)
router = api_router("/executions", tag="executions")

IdempotencyKey = Annotated[str | None, Header(min_length=1, max_length=200)]
Prefer = Annotated[
    str | None, Header(description="`return=minimal`: leave the submitted executions out of the response (RFC 7240).")
]
_MINIMAL = "return=minimal"
_ADDED = ("hold", "begin_at_s", "begin_in_s", "after", "keep", "deadline")


@router.post("", status_code=201, response_model=ExecutionView)
def submit_execution(
    body: SubmitRequest,
    caller: AsSubmitter,
    response: Response,
    idempotency_key: IdempotencyKey = None,
    prefer: Prefer = None,
) -> Response:
    """Submit an application. It runs when the policy and the cluster allow; submissions are accepted while the master
    is down.
    """
    fingerprint = _fingerprint(body)
    try:
        fit = check_description(
            body.application, caller.services, caller.principal, body.priority, caller.request.state.terms
        )
        fit = _with_price(fit, check_budget(caller), caller)
        execution_id = new_execution_id()
        (conditions,) = conditions_of([body], [execution_id], caller)
        execution = _execution(execution_id, body, fit, conditions, caller.principal, clock=caller.services.clock)
        note_submission(caller, execution_id)
    except (ApiProblem, SubmissionRefused):
        # A repeated request that was accepted is not refused, even if nodes or limits have changed.
        stored = idempotency_key and caller.store.submitted_with(caller.tenant, idempotency_key, fingerprint)
        if not stored:
            raise
    else:
        audit_entry = replace(caller.request.state.audit, status=201)
        stored = caller.store.submit(execution, caller.request_id, idempotency_key, fingerprint, audit_entry)
        caller.request.state.audit = None
        if stored.id == execution.id:
            caller.services.master.hint()
            log.info("submitted", execution=stored.id, tenant=stored.tenant, user=stored.user)
            if was_stopped(caller):
                cancel_unit(caller, stored.id)
                raise refused_after(caller.principal)
    _check_own(caller.principal, [stored])
    response.headers["Location"] = f"/api/v1/executions/{stored.id}"
    view = view_of_execution(stored, response)
    if _minimal(prefer, response):
        return Response(status_code=201, headers=dict(response.headers))
    # As text, since the framework would validate a model again.
    return Response(view.model_dump_json(by_alias=True), 201, dict(response.headers), "application/json")


@router.post(":batch", status_code=201, response_model=ExecutionBatch)
def submit_batch(
    body: BatchRequest,
    caller: AsSubmitter,
    response: Response,
    idempotency_key: IdempotencyKey = None,
    prefer: Prefer = None,
) -> ExecutionBatch:
    """Queue several applications in one transaction: all of them, or none.

    The idempotency key covers the whole batch. Each error names its execution: its pointer begins with `/executions/N`,
    and continues as for a single submission.
    """
    try:
        fits = _all_checked(body.executions, caller, caller.request.state.terms)
        notes = check_budget(caller)
        fits = [_with_price(fit, notes, caller) for fit in fits]
        fresh = _executions(body, fits, caller)
    except (ApiProblem, SubmissionRefused):  # as for a single submission
        stored = idempotency_key and caller.store.submitted_all_with(
            caller.tenant, idempotency_key, _fingerprint(body), len(body.executions)
        )
        if not stored:
            raise
    else:
        stored = _store_batch(body, fresh, caller, idempotency_key)
    _check_own(caller.principal, stored)
    ids = [execution.id for execution in stored]
    if _minimal(prefer, response):
        return ExecutionBatch(ids=ids)
    return ExecutionBatch(ids=ids, executions=[execution_summary(execution) for execution in stored])


def _with_price(fit: Checked, warnings: Sequence[str], caller: Caller) -> Checked:
    price = price_notes(caller.services, caller.principal, [(fit.application, 1)])
    return replace(fit, notes=(*fit.notes, *warnings, *price))


def _store_batch(
    body: BatchRequest,
    fresh: list[Execution],
    caller: Caller,
    key: str | None,
) -> Sequence[Execution]:
    """Return the executions of a batch as stored, by this request or by an earlier one with the same key."""
    try:
        stored = caller.store.submit_all(fresh, caller.request_id, key, _fingerprint(body))
    except BatchRefused as refusal:
        raise _batch_refusal([(refusal.index, from_limits(refusal.reason))]) from None
    if stored[0].id == fresh[0].id:
        caller.services.master.hint()
        log.info("submitted", executions=[e.id for e in stored], tenant=caller.tenant, user=caller.user)
    return stored


def _check_own(principal: Principal, stored: Sequence[Execution]) -> None:
    """Raise IdempotencyConflict if another user of the tenant used the same key for the same request."""
    for stored_ in stored:
        check_owner(stored_, principal.user)


def _executions(body: BatchRequest, fits: list[Checked], caller: Caller) -> list[Execution]:
    ids = [new_execution_id() for _ in fits]
    conditions = conditions_of(body.executions, ids, caller, batch=True)
    made: list[Execution] = []
    for index, part in enumerate(zip(ids, body.executions, fits, conditions, strict=True)):
        try:
            made.append(_execution(*part, caller.principal, clock=caller.services.clock))
        except SubmissionRefused as refusal:
            raise _batch_refusal([(index, refusal)]) from None
    return made


def _execution(
    execution_id: str,
    body: SubmitRequest,
    fit: Checked,
    conditions: Conditions,
    principal: Principal,
    clock: Clock = SYSTEM_CLOCK,
) -> Execution:
    application, now_s = fit.application, clock.now_s()
    deadline_s, warnings = deadline_of(
        body.deadline, body.deadline_s, application, now_s, begin_at_s=conditions.begin_at_s
    )
    return Execution(
        id=execution_id,
        name=body.name or application.name,
        tenant=principal.tenant,
        user=principal.user,
        application=application,
        submitted_at_s=now_s,
        priority=fit.priority,
        deadline_s=deadline_s,
        notes=(*fit.notes, *warnings),
        conditions=conditions,
    )


def _all_checked(bodies: list[SubmitRequest], caller: Caller, versions: TermsVersions | None) -> list[Checked]:
    """Return the applications to store; each distinct description is checked once. 422 with all errors."""
    known: dict[str, Checked | SubmissionRefused] = {}
    results = []
    for body in bodies:
        name = json.dumps([body.application, body.priority], sort_keys=True)
        if name not in known:
            try:
                known[name] = check_description(
                    body.application, caller.services, caller.principal, body.priority, versions
                )
            except SubmissionRefused as refusal:
                known[name] = refusal
        results.append(known[name])
    refusals = [(index, entry) for index, entry in enumerate(results) if isinstance(entry, SubmissionRefused)]
    if refusals:
        raise _batch_refusal(refusals)
    return [result for result in results if not isinstance(result, SubmissionRefused)]


def _batch_refusal(refusals: list[tuple[int, SubmissionRefused]]) -> SubmissionRefused:
    """Return the error of a batch: the code of the first; each error names its execution."""
    errors = []
    for index, why in refusals:
        place, title = f"/executions/{index}", PROBLEMS[Code(why.code)][1]
        errors += [error.model_copy(update={"pointer": f"{place}{error.pointer}"}) for error in why.errors] or [
            Diagnostic(pointer=place, code=why.code, message=why.detail or title, hint=why.hint)
        ]
    first = refusals[0][1]
    detail = f"none of the batch was accepted, because {len(refusals)} of its executions cannot be"
    return SubmissionRefused(first.code, detail, first.hint, errors)


def _minimal(prefer: str | None, response: Response) -> bool:
    """Return whether the client wants no representation (`Prefer: return=minimal`); the response confirms it."""
    parts = (part.partition(";")[0] for part in (prefer or "").split(","))
    wanted = {part.replace('"', "").replace(" ", "").lower() for part in parts}
    if _MINIMAL in wanted:
        response.headers["Preference-Applied"] = _MINIMAL
    return _MINIMAL in wanted


def _fingerprint(body: SubmitRequest | BatchRequest) -> str:
    """Return a fingerprint of the request; fields added in later versions count only if they are given, so that a
    request repeated after an upgrade stays the same.
    """
    document = body.model_dump()
    for entry in document["executions"] if isinstance(body, BatchRequest) else (document,):
        for name in _ADDED:
            if entry[name] == SubmitRequest.model_fields[name].default:
                del entry[name]
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
