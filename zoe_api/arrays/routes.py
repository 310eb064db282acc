"""Routes of arrays: submit, list, show and change whole arrays. Their executions are ordinary ones."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated

import structlog
from fastapi import Header, Query, Response

from zoe_api.access.access import AsReader, AsSubmitter, check
from zoe_api.access.visibility import note_look
from zoe_api.arrays import modifying as array_modifying
from zoe_api.arrays.promises import accept_array, array_promise, not_begun, planned_array
from zoe_api.arrays.views import NO_RUNS, array_summary, array_view, brief_text, indices_found, with_execution
from zoe_api.arrays.waiting import Active, reason_of_array, reasons_of_arrays, runs_of_arrays
from zoe_api.executions import arrays as doing
from zoe_api.executions.arrays import new_array, owns_array, seen_array
from zoe_api.executions.families import cancel_unit
from zoe_api.executions.submissions.job_submissions import note_submission, refused_after, was_stopped
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.routing import api_router
from zoe_api.questions.bounded import Bound, question
from zoe_api.services.dependencies import Caller, Services, checking
from zoe_client.vocabulary import IndexState
from zoe_client.wire import (
    AcceptRequest,
    ArrayList,
    ArrayModifyRequest,
    ArrayRequest,
    ArraySummary,
    ArrayView,
    IndexList,
    IndexView,
    PromisePlan,
)
from zoe_client.wire.batch.arrays import BRIEF_MAX
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.domain.applications.sharing import ALL
from zoe_lib.domain.executions.arrays import Array, member_id, with_all_waiting
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.failed_entries import NAMED_MAX, failed_positions, with_failed_entries
from zoe_lib.domain.executions.indices import INDEX_MAX
from zoe_lib.domain.values.frozen import changed
from zoe_lib.store.quotas import check_owner
from zoe_lib.store.values import ArrayQuery, ExecutionQuery
from zoe_lib.submission.refusal import SubmissionRefused

log = structlog.get_logger(__name__)
router = api_router("/arrays", tag="arrays")

IdempotencyKey = Annotated[str | None, Header(min_length=1, max_length=200)]
# For an index that ran several times, the list has the newest execution.
_RUNS_LOOKED_AT = 10


@router.post("", status_code=201, response_model=ArraySummary)
def submit_array(
    body: ArrayRequest,
    caller: AsSubmitter,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> ArraySummary:
    """Submit an array: an application that runs once for each index. `{index}` in its commands, environments and
    results stands for the index; services find it in ZOE_ARRAY_INDEX, beside ZOE_ARRAY_ID, _SIZE, _MIN, _MAX and _STEP.

    The queue makes an execution of an index when its turn comes; limits of executions apply then.
    """
    fingerprint = _fingerprint(body)
    try:
        array = new_array(body, caller)
        note_submission(caller, array.id)
    except (ApiProblem, SubmissionRefused):  # a repeated request that was accepted is never refused
        found = idempotency_key and caller.store.array_submitted_with(caller.tenant, idempotency_key, fingerprint)
        if not found:
            raise
        stored = found
    else:
        entry = replace(caller.request.state.audit, status=201)
        stored = caller.store.submit_array(array, caller.request_id, idempotency_key, fingerprint, entry)
        caller.request.state.audit = None
        if stored.id == array.id:
            caller.services.master.hint()
            log.info("array submitted", array=stored.id, tenant=stored.tenant, user=stored.user)
            if was_stopped(caller):
                cancel_unit(caller, stored.id)
                raise refused_after(caller.principal)
    check_owner(stored, caller.user)
    response.headers["Location"] = f"/api/v1/arrays/{stored.id}"
    return _summary_of(caller, stored)


@router.post(":plan", response_model=PromisePlan)
@question(Bound.PROCESS, Bound.STEPS_OF_MASTER)
def plan_array(body: ArrayRequest, caller: AsReader) -> PromisePlan:
    """Show the promise, or the offers, for an array that requests a promise, as if it were submitted now. Nothing is
    stored. 429 `plan_busy` while the master computes other plans.
    """
    with checking(caller):
        return planned_array(caller, new_array(body, caller))


@router.get("", response_model=ArrayList)
def list_arrays(
    caller: AsReader,
    user: str | None = None,
    open_only: Annotated[
        bool, Query(alias="open", description="Only arrays with indices that have not ended.")
    ] = False,
    all_tenants: Annotated[bool, Query(description="For operators.")] = False,
    limit: Annotated[int, Query(ge=1)] = 50,
    cursor: str | None = None,
) -> ArrayList:
    """List your arrays, newest first; for operators, those of the tenant or all."""
    if all_tenants:
        check(caller.principal, Scope.OPERATE)
    if caller.principal.operator:
        note_look(caller, caller.request.url.path)
    query = ArrayQuery(
        visibility=ALL if all_tenants else caller.principal.visibility,
        user=user,
        open=open_only,
        ids=None if caller.principal.job is None else caller.services.accounts.job_family(caller.principal.job.unit),
        limit=min(limit, caller.services.settings.api_page_max),
        cursor=cursor,
    )
    page = caller.store.arrays(query)
    return ArrayList(arrays=_summaries(caller, page.arrays), next_cursor=page.next_cursor)


@router.get("/{array_id}", response_model=ArrayView)
def show_array(array_id: str, caller: AsReader) -> ArrayView:
    """Return an array with its indices by state, and its description."""
    seen_array(array_id, caller)
    return _view_of_array(caller, array_id)


@router.post("/{array_id}/accept", response_model=ArrayView)
def accept_array_offer(array_id: str, body: AcceptRequest, caller: AsSubmitter) -> ArrayView:
    """Accept an offer for all indices of an array whose deadline cannot be promised. Accepting the same one again
    changes nothing; 409 if offers have expired, or another one was accepted.
    """
    array = seen_array(array_id, caller)
    accept_array(caller, array, body.offer)
    return _view_of_array(caller, array_id)


def _summary_of(caller: Caller, array: Array) -> ArraySummary:
    """Return an array after a change, as in a list."""
    return _summaries(caller, [array])[0]


def _summaries(caller: Caller, arrays: Sequence[Array]) -> list[ArraySummary]:
    waiting, active = not_begun(caller.services, arrays), _active(caller, arrays)
    reasons = reasons_of_arrays(caller.services, arrays, active)
    runs = runs_of_arrays(caller.services, arrays)
    shown = (with_all_waiting(array, b"")[0] if array.id in waiting else array for array in arrays)
    return [array_summary(one, active.get(one.id, {}), reasons.get(one.id), runs.get(one.id, NO_RUNS)) for one in shown]


def _active(caller: Caller, arrays: Sequence[Array]) -> Mapping[str, Active]:
    """Return the number of executions of active indices by state, for each array that has any."""
    some = [array.id for array in arrays if array.count(IndexState.ACTIVE)]
    return caller.store.active_of_arrays(some) if some else {}


def _view_of_array(caller: Caller, array_id: str) -> ArrayView:
    array, states = caller.store.array_with_states(array_id)
    active = _active(caller, [array]).get(array_id, {})
    runs = runs_of_arrays(caller.services, [array]).get(array_id, NO_RUNS)
    promise, reason = array_promise(caller.services, array), reason_of_array(caller.services, array, active)
    if not_begun(caller.services, [array]):
        array, states = with_all_waiting(array, states)
    if array.entries is not None and array.entries.count and array.count(IndexState.FAILED):
        failed = failed_positions(states)
        entries = caller.store.array_entries(array_id, failed[:NAMED_MAX])
        array = changed(array, message=with_failed_entries(array.message, failed, entries))
    with_secrets = caller.principal.operator or owns_array(caller.principal, array)
    return array_view(array, states, active, with_secrets, promise, reason, runs)


@router.get("/{array_id}/indices", response_model=IndexList)
def list_indices(
    array_id: str,
    caller: AsReader,
    state: Annotated[list[IndexState] | None, Query()] = None,
    after: Annotated[int | None, Query(ge=0, le=INDEX_MAX, description="Only higher indices.")] = None,
    brief: Annotated[bool, Query(description="Leave executions out; this allows longer pages.")] = False,
    limit: Annotated[int, Query(ge=1)] = 100,
) -> Response:
    """List the indices of an array with their states and newest executions, in order."""
    seen_array(array_id, caller)
    array, states = caller.store.array_with_states(array_id)
    if not_begun(caller.services, [array]):
        array, states = with_all_waiting(array, states)
    most = min(limit, BRIEF_MAX if brief else caller.services.settings.api_page_max)
    found = indices_found(array, states, frozenset(state) if state else None, after, most + 1)
    page, next_after = found[:most], found[most - 1][0] if len(found) > most else None
    # As text, since the framework would validate each model again.
    if brief:
        return Response(brief_text(page, next_after), media_type="application/json")
    newest = _newest_executions(array, [index for index, _ in page], caller.services)
    views = [with_execution(IndexView(index=index, state=state), newest.get(index)) for index, state in page]
    listed = IndexList(indices=views, next_after=next_after)
    return Response(listed.model_dump_json(), media_type="application/json")


@router.post("/{array_id}/cancel", response_model=ArraySummary)
def cancel_array(
    array_id: str,
    caller: AsSubmitter,
    indices: Annotated[
        str | None,
        Query(max_length=4096, description="Only these, such as `3-5,9`, including indices that have not begun."),
    ] = None,
) -> ArraySummary:
    """Cancel all indices that have not ended, or the named ones; 409 if all ended in another way. Repeating it
    cancels the rest.
    """
    return _summary_of(caller, doing.cancel(caller, array_id, indices))


@router.post("/{array_id}/hold", response_model=ArraySummary)
def hold_array(array_id: str, caller: AsSubmitter) -> ArraySummary:
    """Keep all waiting indices out of the queue until the array is released; running ones continue."""
    return _summary_of(caller, doing.hold(caller, array_id))


@router.post("/{array_id}/release", response_model=ArraySummary)
def release_array(array_id: str, caller: AsSubmitter) -> ArraySummary:
    """Let the indices of a held array into the queue; no effect if it is not held."""
    return _summary_of(caller, doing.release(caller, array_id))


@router.post("/{array_id}/requeue", response_model=ArraySummary)
def requeue_array(array_id: str, caller: AsSubmitter) -> ArraySummary:
    """Run failed and cancelled indices again, each as a new execution; no effect if there are none."""
    return _summary_of(caller, doing.requeue(caller, array_id))


@router.patch("/{array_id}", response_model=ArraySummary)
def modify_array(array_id: str, body: ArrayModifyRequest, caller: AsSubmitter) -> ArraySummary:
    """Change the maximum active indices, and priority, deadline, begin, time limit and description of all waiting
    indices.
    """
    return _summary_of(caller, array_modifying.modify(caller, array_id, body))


def _newest_executions(array: Array, page: list[int], services: Services) -> dict[int, Execution]:
    runs = range(array.run, max(array.run - _RUNS_LOOKED_AT, 0), -1)
    ids = {member_id(array.id, index, run): (run, index) for index in page for run in runs}
    found = services.store.executions(ExecutionQuery(ids=frozenset(ids), limit=max(len(ids), 1))).executions
    newest = sorted(found, key=lambda execution: ids[execution.id][0])
    return {ids[execution.id][1]: execution for execution in newest}


def _fingerprint(body: ArrayRequest) -> str:
    """Return a fingerprint that distinguishes requests, also from those of executions."""
    document = {"array": body.model_dump(exclude_defaults=True)}
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
