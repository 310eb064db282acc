"""Cancel an execution or array with all its descendants: jobs that submitted each other."""

from __future__ import annotations

from collections.abc import Sequence

from zoe_api.access.visibility import is_owner, seen_execution
from zoe_api.executions import arrays, cancelling
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.dependencies import Caller
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions.arrays import is_array, member_of
from zoe_lib.store.errors import NotFound


def cancel_family(caller: Caller, target: str) -> Sequence[str]:
    """Return the cancelled ids, the target first. Its descendants cannot submit any more, from before the first
    cancellation. 403 if it is only shared with the principal, 422 for an index of an array.
    """
    _check(caller, target)
    found = caller.services.accounts.stop_job(target, caller.services.clock.now_s())
    ordered = sorted(found, key=lambda text: (text != target, text))
    return [text for text in ordered if cancel_unit(caller, text)]


def cancel_unit(caller: Caller, unit: str) -> bool:
    """Cancel an execution or array; return False if it has ended, or does not exist yet."""
    try:
        if is_array(unit):
            arrays.cancel(caller, unit)
        else:
            cancelling.cancel(caller, unit)
    except NotFound:
        return False
    except ApiProblem as problem:
        if problem.problem.code != Code.ALREADY_ENDED:
            raise
        return False
    return True


def _check(caller: Caller, target: str) -> None:
    if member := member_of(target):
        hint = f"cancel its array with all descendants: {member.array_id}"
        raise ApiProblem(Code.INVALID_REQUEST, f"{target} is an index of an array", hint)
    if is_array(target):
        arrays.seen_array(target, caller)
        return
    execution = seen_execution(caller, target, ShareLevel.CONTROL)
    if not caller.principal.operator and not is_owner(caller.principal, execution):
        hint = f"ask {execution.user} to cancel them"
        raise ApiProblem(Code.SHARE_TOO_LOW, "its submissions are not shared with you", hint)
