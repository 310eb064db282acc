"""Routes that control submitted executions."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from zoe_api.access.access import AsSubmitter
from zoe_api.access.representation import view_of_execution
from zoe_api.access.visibility import may_see_secrets
from zoe_api.executions.cancelling import cancel
from zoe_api.executions.controlling import accept, hold, modify, release, requeue, scale
from zoe_api.executions.families import cancel_family
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import IfMatch
from zoe_client.wire import AcceptRequest, CancelledFamily, ExecutionView, ModifyRequest, ScaleRequest

router = api_router("/executions", tag="executions")


@router.post("/{execution_id}/cancel", response_model=ExecutionView)
def cancel_execution(
    execution_id: str,
    caller: AsSubmitter,
    response: Response,
    if_match: IfMatch = None,
) -> ExecutionView:
    """Cancel an execution. This is idempotent while the execution stops; 409 if it has already ended for another
    reason.

    An execution that is already stopping keeps its outcome, unless it was about to be retried.
    """
    execution = cancel(caller, execution_id, if_match)
    return view_of_execution(execution, response, may_see_secrets(caller.principal, execution))


@router.post("/{execution_id}/cancel-descendants", response_model=CancelledFamily)
def cancel_descendants(execution_id: str, caller: AsSubmitter) -> CancelledFamily:
    """Cancel an execution or array, and everything that it and its descendants submitted as jobs, even if it has ended.
    They cannot submit any more, so a job that submits its successor ends for good. Repeating it cancels the rest.
    """
    return CancelledFamily(ids=list(cancel_family(caller, execution_id)))


@router.post("/{execution_id}/hold", response_model=ExecutionView)
def hold_execution(
    execution_id: str,
    caller: AsSubmitter,
    response: Response,
    if_match: IfMatch = None,
) -> ExecutionView:
    """Keep a waiting execution out of the queue until it is released; 409 if it does not wait. Its time in the queue
    then starts anew. Only operators can release an operator's hold.
    """
    execution = hold(caller, execution_id, if_match)
    return view_of_execution(execution, response, may_see_secrets(caller.principal, execution))


@router.post("/{execution_id}/release", response_model=ExecutionView)
def release_execution(
    execution_id: str,
    caller: AsSubmitter,
    response: Response,
    if_match: IfMatch = None,
) -> ExecutionView:
    """Let a held execution into the queue; dependencies that can no longer be met are dropped. No effect if it is not
    held.
    """
    execution = release(caller, execution_id, if_match)
    return view_of_execution(execution, response, may_see_secrets(caller.principal, execution))


@router.post("/{execution_id}/requeue", response_model=ExecutionView)
def requeue_execution(
    execution_id: str,
    caller: AsSubmitter,
    response: Response,
    if_match: IfMatch = None,
    hold: Annotated[bool, Query(description="Hold it before its next attempt, until it is released.")] = False,
) -> ExecutionView:
    """Stop an execution and queue it for another attempt, which does not count against its `retries`; 409 if it is not
    running.
    """
    execution = requeue(caller, execution_id, if_match, hold)
    return view_of_execution(execution, response, may_see_secrets(caller.principal, execution))


@router.post("/{execution_id}/accept", response_model=ExecutionView)
def accept_offer(
    execution_id: str,
    body: AcceptRequest,
    caller: AsSubmitter,
    response: Response,
    if_match: IfMatch = None,
) -> ExecutionView:
    """Accept an offer for an execution whose deadline cannot be promised. Accepting the same one again changes nothing;
    409 if offers have expired, or another one was accepted.
    """
    execution = accept(caller, execution_id, body.offer, if_match)
    return view_of_execution(execution, response, may_see_secrets(caller.principal, execution))


@router.patch("/{execution_id}", response_model=ExecutionView)
def modify_execution(
    execution_id: str,
    body: ModifyRequest,
    caller: AsSubmitter,
    response: Response,
    if_match: IfMatch = None,
) -> ExecutionView:
    """Change a waiting execution: priority, deadline, begin, or its description without components and instance counts;
    409 if it does not wait. The checks are those of a submission.
    """
    execution = modify(caller, execution_id, body, if_match)
    return view_of_execution(execution, response, may_see_secrets(caller.principal, execution))


@router.post("/{execution_id}/scale", response_model=ExecutionView)
def scale_execution(
    execution_id: str,
    body: ScaleRequest,
    caller: AsSubmitter,
    response: Response,
    if_match: IfMatch = None,
) -> ExecutionView:
    """Change the number of instances of a waiting or running execution: elastic services are added, which start when
    there is room, or stopped. Essential ones stay. 409 if it has ended.
    """
    execution = scale(caller, execution_id, body, if_match)
    return view_of_execution(execution, response, may_see_secrets(caller.principal, execution))
