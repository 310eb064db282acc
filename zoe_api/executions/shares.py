"""Shares: access of other users of the tenant to an execution."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from zoe_api.access.access import AsReader, AsSubmitter
from zoe_api.access.visibility import is_owner, seen_execution
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import Caller
from zoe_client.wire import ShareList, ShareRequest, ShareView
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.store.errors import NotFound, TooManyShares
from zoe_lib.store.people import Principal, Share

router = api_router("/executions/{execution_id}/shares", tag="executions")


@router.get("", response_model=ShareList)
def list_shares(execution_id: str, caller: AsReader) -> ShareList:
    """List the shares of an execution; for its owner and for operators."""
    execution = seen_execution(caller, execution_id)
    if not caller.principal.operator:
        _check_owner(caller.principal, execution)
    shares = caller.services.accounts.shares(execution.id)
    return ShareList(shares=[ShareView.with_warning(share.user, share.level, share.at_s) for share in shares])


@router.put("", response_model=ShareView)
def share_execution(execution_id: str, body: ShareRequest, caller: AsSubmitter) -> ShareView:
    """Share your execution with a user of the tenant, or with the tenant; a second share with the same user replaces
    the first. It ends with the membership of either user, and with the execution's record.
    """
    execution = _owned_execution(caller, execution_id)
    if body.user == execution.user:
        raise ApiProblem(Code.INVALID_REQUEST, "you cannot share an execution with yourself")
    share = Share(execution.id, execution.tenant, execution.user, body.user, body.level, caller.services.clock.now_s())
    try:
        caller.services.accounts.share(share)
    except TooManyShares as refused:
        raise ApiProblem(Code.TOO_MANY_SHARES, str(refused)) from None
    return ShareView.with_warning(share.user, share.level, share.at_s)


@router.delete("", status_code=204)
def end_share(
    execution_id: str,
    caller: AsSubmitter,
    user: Annotated[
        str | None, Query(min_length=1, max_length=128, description="The user (default: all members of the tenant).")
    ] = None,
) -> Response:
    """End the share with a user, or with the tenant; 404 if there is none. Open pages end within seconds."""
    execution = seen_execution(caller, execution_id)
    if not caller.principal.operator:
        _check_owner(caller.principal, execution)
    try:
        caller.services.accounts.end_share(execution.id, user)
    except NotFound as error:
        hint = f"`zoe shares {execution.id}` lists with whom it is shared"
        raise ApiProblem(Code.NOT_FOUND, str(error), hint) from None
    return Response(status_code=204)


def _owned_execution(caller: Caller, execution_id: str) -> Execution:
    execution = seen_execution(caller, execution_id)
    _check_owner(caller.principal, execution)
    return execution


def _check_owner(principal: Principal, execution: Execution) -> None:
    if not is_owner(principal, execution):
        raise ApiProblem(Code.SHARE_TOO_LOW, "only its owner can share it")
