"""What users do to executions after they have submitted them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from zoe_api.access.access import AsSubmitter
from zoe_api.access.representation import viewed
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
    return viewed(execution, response, may_see_secrets(caller.principal, execution))


@router.post("/{execution_id}/cancel-descendants", response_model=CancelledFamily)
def cancel_descendants(execution_id: str, caller: AsSubmitter) -> CancelledFamily:
    """Cancel an execution or array, and all that it and its descendants submitted as jobs, also if it has ended itself.
    They submit nothing more, so a job that submits its successor ends for good. Doing it again goes on with what is
    left.
    """
    return CancelledFamily(ids=list(cancel_family(caller, execution_id)))


@router.post("/{execution_id}/hold", response_model=ExecutionView)
def hold_execution(
    execution_id: str,
    caller: AsSubmitter,
    response: Response,
    if_match: IfMatch = None,
) -> ExecutionView:
    """Keep an execution that waits out of the queue until it is released; 409 if it does not wait. Its time in the
    queue begins anew then. What an operator holds, only operators release.
    """
    execution = hold(caller, execution_id, if_match)
    return viewed(execution, response, may_see_secrets(caller.principal, execution))


@router.post("/{execution_id}/release", response_model=ExecutionView)
def release_execution(
    execution_id: str,
    caller: AsSubmitter,
    response: Response,
    if_match: IfMatch = None,
) -> ExecutionView:
    """Let a held execution into the queue; dependencies that can no longer be met do not count any more. Nothing
    happens if it is not held.
    """
    execution = release(caller, execution_id, if_match)
    return viewed(execution, response, may_see_secrets(caller.principal, execution))


@router.post("/{execution_id}/requeue", response_model=ExecutionView)
def requeue_execution(
    execution_id: str,
    caller: AsSubmitter,
    response: Response,
    if_match: IfMatch = None,
    hold: Annotated[bool, Query(description="Hold it before its next attempt, until it is released.")] = False,
) -> ExecutionView:
    """Stop an execution and let it wait for another attempt, which does not count against its `retries`; 409 if it does
    not run.
    """
    execution = requeue(caller, execution_id, if_match, hold)
    return viewed(execution, response, may_see_secrets(caller.principal, execution))


@router.post("/{execution_id}/accept", response_model=ExecutionView)
def accept_offer(
    execution_id: str,
    body: AcceptRequest,
    caller: AsSubmitter,
    response: Response,
    if_match: IfMatch = None,
) -> ExecutionView:
    """Accept one of the offers of an execution that cannot be promised to end as it asked for. Accepting the same one
    again changes nothing; 409 if offers are over, or another one was accepted.
    """
    execution = accept(caller, execution_id, body.offer, if_match)
    return viewed(execution, response, may_see_secrets(caller.principal, execution))


@router.patch("/{execution_id}", response_model=ExecutionView)
def modify_execution(
    execution_id: str,
    body: ModifyRequest,
    caller: AsSubmitter,
    response: Response,
    if_match: IfMatch = None,
) -> ExecutionView:
    """Change an execution that waits: priority, deadline, begin, or its description except for the components and their
    numbers; 409 if it does not wait. Checked as a submission is.
    """
    execution = modify(caller, execution_id, body, if_match)
    return viewed(execution, response, may_see_secrets(caller.principal, execution))


@router.post("/{execution_id}/scale", response_model=ExecutionView)
def scale_execution(
    execution_id: str,
    body: ScaleRequest,
    caller: AsSubmitter,
    response: Response,
    if_match: IfMatch = None,
) -> ExecutionView:
    """Change how many instances an execution has that waits or runs: elastic services are added, which start when there
    is room, or stopped. Essential ones stay. 409 if it has ended.
    """
    execution = scale(caller, execution_id, body, if_match)
    return viewed(execution, response, may_see_secrets(caller.principal, execution))
