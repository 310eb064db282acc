"""Cancel an execution or array with all that descends from it, by jobs that submitted each other."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import Request

from zoe_api.access.visibility import owns, visible_execution
from zoe_api.executions import arrays, cancelling
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.dependencies import Services
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions.arrays import is_array, member_of
from zoe_lib.store.errors import NotFound
from zoe_lib.store.people import Principal


def cancel_family(services: Services, principal: Principal, target: str, request: Request) -> Sequence[str]:
    """Return the ids of what was cancelled, the target first. Nothing that descends from it submits any more, from
    before the first is cancelled. 403 if it is only shared with the principal, 422 for an index of an array.
    """
    _check(services, principal, target, request)
    found = services.accounts.stop_job(target, services.clock.now_s())
    ordered = sorted(found, key=lambda one: (one != target, one))
    return [one for one in ordered if cancel_unit(services, principal, one, request)]


def cancel_unit(services: Services, principal: Principal, unit: str, request: Request) -> bool:
    """Cancel an execution or array; return False if it has ended, or is not there yet."""
    try:
        if is_array(unit):
            arrays.cancel(services, principal, unit, request)
        else:
            cancelling.cancel(services, principal, unit, request)
    except NotFound:
        return False
    except ApiProblem as problem:
        if problem.problem.code != Code.ALREADY_ENDED:
            raise
        return False
    return True


def _check(services: Services, principal: Principal, target: str, request: Request) -> None:
    if member := member_of(target):
        hint = f"cancel its array with all descendants: {member.array_id}"
        raise ApiProblem(Code.INVALID_REQUEST, f"{target} is an index of an array", hint)
    if is_array(target):
        arrays.seen_array(target, services, principal, request)
        return
    execution = visible_execution(services, principal, target, request, ShareLevel.CONTROL)
    if not principal.operator and not owns(principal, execution):
        hint = f"ask {execution.user} to cancel them"
        raise ApiProblem(Code.SHARE_TOO_LOW, "what it submitted is not shared with you", hint)
