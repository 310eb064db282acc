"""Cancel an execution for a user."""

from __future__ import annotations

import time

import structlog
from fastapi import Request

from zoe_api.codes import Code
from zoe_api.dependencies import Services, check_if_match
from zoe_api.problems import ApiProblem
from zoe_api.visibility import visible_execution
from zoe_lib.domain import events as ev
from zoe_lib.domain.consequences import will_retry
from zoe_lib.domain.execution import WAITING_STATES, Cause, Execution, ExecutionState, Outcome
from zoe_lib.domain.sharing import ShareLevel
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.errors import ConcurrentUpdate
from zoe_lib.store.people import Principal

log = structlog.get_logger(__name__)

_CANCEL_ATTEMPTS_MAX = 5


def cancel(
    services: Services, principal: Principal, execution_id: str, request: Request, if_match: str | None = None
) -> Execution:
    """Return the execution after the cancel. Idempotent while it stops; 409 if it has already
    ended for another reason."""
    for _ in range(_CANCEL_ATTEMPTS_MAX):
        execution = visible_execution(services, principal, execution_id, request, ShareLevel.CONTROL)
        check_if_match(if_match, execution.version)
        try:
            cancelled = _cancel(services.store, execution, principal, request.state.request_id)
        except ConcurrentUpdate:
            continue
        services.master.hint()
        log.info("cancelled", execution=execution_id, user=principal.user, state=cancelled.state.value)
        return cancelled
    raise ApiProblem(Code.CONFLICT, "the execution changes too often to be cancelled; try again")


def _cancel(store: ExecutionStore, execution: Execution, principal: Principal, request_id: str) -> Execution:
    message = f"cancelled by {principal.user}"
    now_s = time.time()
    event: ev.Event
    if execution.state in WAITING_STATES:
        event = ev.Refused(
            at_s=now_s, cause_id=request_id, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED, message=message
        )
    elif execution.state in (ExecutionState.STARTING, ExecutionState.RUNNING) or will_retry(execution, store.policy()):
        event = ev.Stopping(
            at_s=now_s, cause_id=request_id, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED, message=message
        )
    elif execution.state in (ExecutionState.STOPPING, ExecutionState.CANCELLED):
        return execution
    else:
        raise ApiProblem(Code.ALREADY_ENDED, f"it is {execution.state}")
    return store.append(execution.id, [event], execution.version, None)
