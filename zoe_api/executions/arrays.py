"""Submit arrays, and change whole ones: the row, then the executions made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import structlog

from zoe_api.access.visibility import note_look, visible_array
from zoe_api.executions.cancelling import cancellation
from zoe_api.executions.changing import change
from zoe_api.executions.controlling import hold_event, release_event
from zoe_api.executions.submissions.budgets import check_budget
from zoe_api.executions.submissions.checking import check
from zoe_api.executions.submissions.conditions import conditions_of
from zoe_api.executions.submissions.indices import given_indices
from zoe_api.executions.submissions.job_submissions import refused_after, was_stopped
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.request_context import PREFIX
from zoe_api.services.dependencies import Caller, Services, answered, is_short
from zoe_client.vocabulary import ACTIVE_STATES, ExecutionState, Holder
from zoe_client.wire import ArrayRequest, Diagnostic
from zoe_lib.domain.executions import arrays as domain
from zoe_lib.domain.executions.arrays import Array, ArrayEventKind
from zoe_lib.domain.executions.events import Event
from zoe_lib.domain.executions.execution import WAITING_STATES, Execution
from zoe_lib.domain.executions.indices import IndexSet
from zoe_lib.domain.values.frozen import changed
from zoe_lib.store.errors import NotFound
from zoe_lib.store.people import Principal
from zoe_lib.store.quotas import room_for
from zoe_lib.store.values import ArrayChange, ExecutionQuery
from zoe_lib.submission.deadlines import check_whole, deadline_of
from zoe_lib.submission.ids import new_array_id
from zoe_lib.submission.pricing import price_notes

log = structlog.get_logger(__name__)
_CORR = "corr:"
_PAGE = 500
# Maximum executions of an array that one request changes: a few milliseconds each. A repeated request continues.
_CHANGED_MAX = 10_000
_NOT_ENDED = frozenset({*WAITING_STATES, *ACTIVE_STATES})


def new_array(body: ArrayRequest, caller: Caller) -> Array:
    """Return the array of a request, checked like an execution; 422 with all errors."""
    indices, at_once = given_indices(body.indices, caller.services)
    given = caller.principal, body.application, body.priority, caller.request.state.terms
    fit = answered(caller, is_short(caller), check, *given)
    array_id, now_s = new_array_id(), caller.services.clock.now_s()
    plain = [entry for entry in body.after if not entry.startswith(_CORR)]
    (conditions,) = conditions_of([body.model_copy(update={"after": plain})], [array_id], caller)
    if body.keep:
        conditions = changed(conditions, keep=True)
    limit = room_for(caller.tenant, caller.user, caller.store.policy().limits, 0, 0)
    check_whole(fit.application, indices.count, limit, pairwise=len(plain) < len(body.after))
    deadline_s, warnings = deadline_of(
        body.deadline, body.deadline_s, fit.application, now_s, begin_at_s=conditions.begin_at_s
    )
    return Array(
        id=array_id,
        name=body.name or fit.application.name,
        tenant=caller.tenant,
        user=caller.user,
        application=fit.application,
        submitted_at_s=now_s,
        indices=indices,
        at_once=at_once,
        priority=fit.priority,
        deadline_s=deadline_s,
        conditions=conditions,
        corr=tuple(_partners(body, indices, caller)),
        notes=(
            *fit.notes,
            *warnings,
            *check_budget(caller),
            *price_notes(caller.services, caller.principal, [(fit.application, indices.count)]),
        ),
    )


def _partners(body: ArrayRequest, indices: IndexSet, caller: Caller) -> Iterator[str]:
    for place, text in enumerate(body.after):
        if not text.startswith(_CORR):
            continue
        on = text.removeprefix(_CORR)
        other = visible_array(on, caller)
        why = "" if other is not None else f"array {on} does not exist, or you may not see it"
        if other is not None and other.indices != indices:
            why = f"array {on} has other indices: {str(other.indices)[:80]}"
        if why:
            error = Diagnostic(pointer=f"/after/{place}", code="unknown", message=why)
            raise ApiProblem(Code.INVALID_REQUEST, why, errors=[error])
        yield on


def seen_array(array_id: str, caller: Caller) -> Array:
    """Return an array of the principal, or any for operators, whose look is recorded; NotFound."""
    array = visible_array(array_id, caller)
    if array is None:
        raise NotFound(_unknown(array_id))
    if caller.principal.operator and not owns_array(caller.principal, array):
        note_look(caller, f"{PREFIX}/arrays/{array.id}")
    return array


def _unknown(text: str) -> str:
    """Return the sentence about an id that is not a visible array's."""
    if member := domain.member_of(text):
        return f"{text} is an execution of an array, not an array; the array is {member.array_id}"
    return f"array {text} does not exist" if domain.is_array(text) else f"{text} is not the id of an array"


def owns_array(principal: Principal, array: Array) -> bool:
    """Return whether the array is the principal's own."""
    return (principal.tenant, principal.user) == (array.tenant, array.user)


def cancel(caller: Caller, array_id: str, indices: str | None = None) -> Array:
    """Return the array after its active indices, or those in the text, were cancelled. 409 if all indices had ended
    in another way, 422 if the array lacks one of them.
    """
    only = None if indices is None else _indices_in_array(indices, seen_array(array_id, caller), caller.services)

    def decide(array: Array, states: bytearray) -> ArrayChange | None:
        if not array.open_count and array.state is not ExecutionState.CANCELLED:
            raise ApiProblem(Code.ALREADY_ENDED, f"its state is {array.state}")
        after = domain.cancel(array, states, caller.user, only)
        what = {"user": caller.user} | ({} if only is None else {"what": f"indices {only}", "indices": str(only)})
        return None if after is array else ArrayChange(after, ArrayEventKind.CANCELLED, what)

    def cancel_event(execution: Execution) -> Event | None:
        member = domain.member_of(execution.id)
        if only is not None and (member is None or only.position(member.index) is None):
            return None
        return cancellation(execution, caller)

    change_array(caller, array_id, decide)
    change_each(caller, array_id, cancel_event)
    return caller.store.array(array_id)


def _indices_in_array(text: str, array: Array, services: Services) -> IndexSet:
    """Return the indices of an array in a text; 422 for invalid ones."""
    found, at_once = given_indices(text, services)
    if at_once is not None:
        raise ApiProblem(Code.INVALID_REQUEST, f"%{at_once} is for arrays that are submitted: name indices only")
    if (wrong := next((index for index in found if array.indices.position(index) is None), None)) is not None:
        raise ApiProblem(Code.INVALID_REQUEST, f"array {array.id} has no index {wrong}")
    return found


def hold(caller: Caller, array_id: str) -> Array:
    """Return the held array: no index of it starts; running ones continue. 409 if all its indices have ended."""

    def decide(array: Array, _: bytearray) -> ArrayChange | None:
        if not array.open_count:
            raise ApiProblem(Code.ILLEGAL_STATE, f"it has ended: it is {array.state}")
        by = Holder.OPERATOR if caller.principal.operator and not owns_array(caller.principal, array) else Holder.USER
        after = domain.hold(array, by)
        return None if after is array else ArrayChange(after, ArrayEventKind.HELD, {"by": by, "user": caller.user})

    change_array(caller, array_id, decide)
    change_each(caller, array_id, lambda entry: _hold_event(entry, caller))
    return caller.store.array(array_id)


def _hold_event(execution: Execution, caller: Caller) -> Event | None:
    return hold_event(execution, caller) if execution.state in WAITING_STATES else None


def release(caller: Caller, array_id: str) -> Array:
    """Return the array after its release; 403 if only operators may release it, 409 if all its indices have ended."""

    def decide(array: Array, _: bytearray) -> ArrayChange | None:
        if not array.open_count:
            raise ApiProblem(Code.ILLEGAL_STATE, f"it has ended: it is {array.state}")
        holder = array.conditions.held
        if holder is None:
            return None
        if holder is Holder.OPERATOR and not caller.principal.operator:
            raise ApiProblem(Code.HELD_BY_OPERATOR, hint="ask an operator to release it")
        return ArrayChange(domain.release(array), ArrayEventKind.RELEASED, {"user": caller.user})

    change_array(caller, array_id, decide)
    change_each(caller, array_id, lambda entry: release_event(entry, caller, clock=caller.services.clock))
    return caller.store.array(array_id)


def requeue(caller: Caller, array_id: str) -> Array:
    """Return the array after its failed and cancelled indices were set to run again; unchanged if there are none. 403
    if a refusing budget of its owner is spent, or the caller is a job that was cancelled with its descendants.
    """
    seen = seen_array(array_id, caller)
    check_budget(caller.acting_as(replace(caller.principal, tenant=seen.tenant, user=seen.user)))

    def decide(array: Array, states: bytearray) -> ArrayChange | None:
        if array.run >= domain.RUNS_MAX:
            raise ApiProblem(
                Code.ILLEGAL_STATE, f"its indices have run {array.run} times, which is the maximum; submit a new array"
            )
        after = domain.again(array, states)
        return None if after is array else ArrayChange(after, ArrayEventKind.AGAIN, {"user": caller.user})

    if caller.principal.job is None:
        caller.services.accounts.resume_job(array_id)
    after = change_array(caller, array_id, decide)
    if was_stopped(caller):
        cancel(caller, array_id)
        raise refused_after(caller.principal)
    return after


def change_array(
    caller: Caller,
    array_id: str,
    decide: Callable[[Array, bytearray], ArrayChange | None],
) -> Array:
    """Return the array after the change from `decide`, stored with its journal entry; None: unchanged."""
    before = seen_array(array_id, caller)
    after = caller.store.change_array(array_id, decide, caller.services.clock.now_s(), caller.request_id)
    if after.version != before.version:
        caller.services.master.hint()
        log.info("array changed", array=array_id, user=caller.user, state=after.state.value)
    return after


def change_each(
    caller: Caller,
    array_id: str,
    decide: Callable[[Execution], Event | None],
) -> None:
    """Apply a change to the active executions of an array; those that end meanwhile are skipped."""
    cursor: str | None = None
    for _ in range(_CHANGED_MAX // _PAGE):
        query = ExecutionQuery(array_id=array_id, states=_NOT_ENDED, limit=_PAGE, cursor=cursor)
        page = caller.store.executions(query)
        for execution in page.executions:
            change(caller, execution.id, None, lambda entry: None if entry.terminal else decide(entry))
        if (cursor := page.next_cursor) is None:
            return
