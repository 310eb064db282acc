"""Visibility of executions, and access levels."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from zoe_api.access.access import confirm_access, entry
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.request_context import PREFIX
from zoe_api.services.dependencies import Caller
from zoe_client.vocabulary import IndexState
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.domain.applications.sharing import ExecutionShares, ShareLevel
from zoe_lib.domain.executions.arrays import INDEX_STATES, Array, Member, is_array, member_of
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.store.errors import NotFound, StoreUnavailable
from zoe_lib.store.people import Principal

LOOK = "look"
"""The audit action of an operator who reads data of another user."""
_INDICES_LENGTH_MAX = 80


def _unknown(text: str, caller: Caller) -> str:
    """Return the sentence about an id that is not an execution's."""
    if member := member_of(text):
        return _unknown_index(member, text, caller)
    if is_array(text):
        return f"{text} is an array, not an execution; its executions have ids such as {text}_0"
    if text.startswith("w") and is_array(f"a{text[1:]}"):
        return f"{text} is a workflow, not an execution; name the execution of a step"
    return f"execution {text} does not exist"


def _unknown_index(member: Member, text: str, caller: Caller) -> str:
    """Return the sentence about an index without an execution, or that a visible array lacks."""
    if visible_array(member.array_id, caller) is None:
        return f"execution {text} does not exist"
    array, states = caller.store.array_with_states(member.array_id)
    position = array.indices.position(member.index)
    if position is None:
        return (
            f"array {array.id} has no index {member.index}; its indices are {str(array.indices)[:_INDICES_LENGTH_MAX]}"
        )
    state = INDEX_STATES[states[position]]
    if state is not IndexState.WAITING:
        return f"execution {text} does not exist; index {member.index} of array {array.id} is {state}"
    return f"{text} has no execution yet: index {member.index} of array {array.id} waits with its array"


def visible_array(array_id: str, caller: Caller) -> Array | None:
    """Return an array that is visible to the principal; None if there is none."""
    if not is_array(array_id):
        return None
    if caller.principal.job is not None and not caller.services.accounts.is_job_family(
        caller.principal.job.unit, array_id
    ):
        return None
    try:
        array = caller.store.array(array_id)
    except NotFound:
        return None
    owner = ExecutionShares(array.tenant, array.user, {})
    return array if caller.principal.operator or caller.principal.visibility.includes(owner) else None


def seen_execution(
    caller: Caller,
    execution_id: str,
    level: ShareLevel = ShareLevel.LOOK,
) -> Execution:
    """Return the execution if it is the principal's, shared, or the principal is an operator; else NotFound.

    Both refusals are identical, so that they do not reveal whether another user's execution exists. 403 if the share
    does not include the level. A look of an operator is recorded.
    """
    try:
        execution = caller.store.execution(execution_id)
    except NotFound:
        raise NotFound(_unknown(execution_id, caller)) from None
    if is_owner(caller.principal, execution):
        return execution
    if caller.principal.operator:
        note_look(caller, f"{PREFIX}/executions/{execution.id}")
        return execution
    given = caller.services.accounts.shared_level(execution.id, caller.tenant, caller.user)
    if given is None:
        raise NotFound(_unknown(execution_id, caller))
    if not given.includes(level):
        hint = f"ask {execution.user} to share it for `{level}`"
        raise ApiProblem(Code.SHARE_TOO_LOW, f"it is shared with you for `{given}`", hint)
    return execution


def entered_execution(caller: Caller, execution_id: str, level: ShareLevel) -> Execution:
    """Return an execution in which the principal may act as its owner; NotFound, ApiProblem.

    Operators have no exception. For them the error is 403, as they may see the execution.
    """
    person = replace(caller.principal, scopes=caller.principal.scopes - {Scope.OPERATE})
    try:
        return seen_execution(caller.acting_as(person), execution_id, level)
    except NotFound:
        if not caller.principal.operator:
            raise
        execution = caller.store.execution(execution_id)
        hint = f"ask {execution.user} to share it for `{level}`"
        raise ApiProblem(Code.SHARE_TOO_LOW, "only its owner, and users with a share, may open it", hint) from None


def is_owner(principal: Principal, execution: Execution) -> bool:
    """Return whether the execution is the principal's own."""
    return (principal.tenant, principal.user) == (execution.tenant, execution.user)


def may_see_secrets(principal: Principal, execution: Execution) -> bool:
    """Return whether the values of environment variables may be shown: to the owner and to operators."""
    return principal.operator or is_owner(principal, execution)


def still_visible(caller: Caller, execution: Execution | None, level: ShareLevel = ShareLevel.LOOK) -> bool:
    """Return whether a stream may continue; True while the database does not answer."""
    return confirmed_visible(caller, execution, level) is not False


def confirmed_visible(caller: Caller, execution: Execution | None, level: ShareLevel = ShareLevel.LOOK) -> bool | None:
    """Return whether a client still has the same rights, and the execution is still shared; None if the database does
    not answer.
    """
    told = confirm_access(caller.services.accounts, caller.principal)
    if not told or execution is None or caller.principal.operator or is_owner(caller.principal, execution):
        return told
    try:
        given = caller.services.accounts.shared_level(execution.id, caller.tenant, caller.user)
        return given is not None and given.includes(level)
    except StoreUnavailable:
        return None


def levels_of(caller: Caller, executions: Collection[Execution]) -> Mapping[ExecutionId, ShareLevel]:
    """Return the access levels of the principal for visible executions; owners and operators have all."""
    theirs = [
        execution.id
        for execution in executions
        if not caller.principal.operator and not is_owner(caller.principal, execution)
    ]
    shares = caller.store.shares_of(theirs) if theirs else {}
    levels = {text: given.level_of(caller.tenant, caller.user) for text, given in shares.items()}
    full = {execution.id: ShareLevel.CONTROL for execution in executions if execution.id not in theirs}
    return full | {their: levels.get(their) or ShareLevel.LOOK for their in theirs}


def note_look(caller: Caller, target: str) -> None:
    """Record an operator's look before the response, unless there is a recent entry; StoreUnavailable."""
    caller.services.looks.record(
        caller.services.accounts, entry(caller.principal, caller.request, LOOK, target, status=200)
    )
