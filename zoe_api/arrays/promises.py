"""Promises of whole arrays: all indices of the first run together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from zoe_api.arrays.whole_promises import accept_for, planned_promise, promise_of
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.dependencies import Caller, Services
from zoe_client.wire import PromisePlan, WorkflowPromiseView
from zoe_lib.domain.executions.arrays import (
    Array,
    ArrayEventKind,
    ArrayId,
    execution_of,
    member_id,
    requests_joint_promise,
    with_promise,
)
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.store.values import ArrayChange, ExecutionQuery


def array_promise(services: Services, array: Array) -> WorkflowPromiseView | None:
    """Return the decision for its indices; None if no promise was requested, or it runs again."""
    ids = _members(array)
    if not ids:
        return None
    return promise_of(_executions_by_id(services, ids))


def planned_array(caller: Caller, array: Array) -> PromisePlan:
    """Return the promise for an array before its submission; 422 if it requests no promise."""
    if not requests_joint_promise(array):
        raise ApiProblem(
            Code.INVALID_REQUEST, "a plan of an array needs `promise`, with the time by which it should end"
        )
    made = (execution_of(array, position, array.submitted_at_s) for position in range(array.indices.count))
    # The label of an index changes neither its time nor its room.
    members = [replace(execution, application=array.application) for execution in made]
    return PromisePlan(promise=planned_promise(caller, members), notes=list(array.notes))


def accept_array(caller: Caller, array: Array, number: int) -> None:
    """Promise the terms of an offer to all indices; 409 if that is impossible."""
    ids = _members(array)
    if ids and len(_executions_by_id(caller.services, ids)) < len(ids):
        raise ApiProblem(Code.ILLEGAL_STATE, "there are no offers to accept", "it is not decided yet")
    fresh = accept_for(caller, ids, number)
    found = _executions_by_id(caller.services, ids)
    finish_s = max(execution.promise.terms.finish_s for execution in found if execution.promise is not None)

    def decide(stored: Array, _: bytearray) -> ArrayChange | None:
        after = with_promise(stored, finish_s)
        data = {"user": caller.user, "offer": number, "deadline_s": finish_s, "what": f"offer {number}"}
        return None if after is stored and not fresh else ArrayChange(after, ArrayEventKind.ACCEPTED, data)

    caller.store.change_array(array.id, decide, caller.services.clock.now_s(), caller.request_id)


def not_begun(services: Services, arrays: Sequence[Array]) -> frozenset[ArrayId]:
    """Return the arrays that wait for a decision, an answer, or their begin although the executions of their indices
    exist: these are promised together, so the first represents all.
    """
    first = {
        member_id(array.id, array.indices.lowest): array
        for array in arrays
        if requests_joint_promise(array) and array.open_count
    }
    found = _executions_by_id(services, list(first)) if first else ()
    now_s = services.clock.now_s()
    waiting = (execution for execution in found if not execution.terminal)
    return frozenset(
        first[entry.id].id for entry in waiting if entry.promise is None or first[entry.id].conditions.begins_s > now_s
    )


def _executions_by_id(services: Services, ids: Sequence[str]) -> Sequence[Execution]:
    return services.store.executions(ExecutionQuery(ids=frozenset(ids), limit=len(ids))).executions


def _members(array: Array) -> list[str]:
    """Return the executions that are promised together; the master makes all of them at once."""
    return [member_id(array.id, index) for index in array.indices] if requests_joint_promise(array) else []
