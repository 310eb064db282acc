"""Cancel an execution for a user."""

from __future__ import annotations

import time

from fastapi import Request

from zoe_api.changing import change
from zoe_api.codes import Code
from zoe_api.dependencies import Services
from zoe_api.problems import ApiProblem
from zoe_lib.domain import events as ev
from zoe_lib.domain.consequences import will_retry
from zoe_lib.domain.execution import WAITING_STATES, Cause, Execution, ExecutionState, Outcome
from zoe_lib.store.people import Principal

_STARTED = (ExecutionState.STARTING, ExecutionState.RUNNING)


def cancel(
    services: Services, principal: Principal, execution_id: str, request: Request, if_match: str | None = None
) -> Execution:
    """Return the execution after the cancel. Idempotent while it stops; 409 if it has already
    ended for another reason."""

    def decide(execution: Execution) -> ev.Event | None:
        return cancellation(execution, services, principal, request)

    return change(services, principal, execution_id, request, if_match, decide)


def cancellation(execution: Execution, services: Services, principal: Principal, request: Request) -> ev.Event | None:
    """Return the event of a cancellation; None if it stops already. 409 if it has ended for another reason."""
    how = {
        "at_s": time.time(),
        "cause_id": request.state.request_id,
        "outcome": Outcome.CANCELLED,
        "cause": Cause.CANCELLED,
        "message": f"cancelled by {principal.user}",
    }
    if execution.state in WAITING_STATES:
        return ev.Refused(**how)
    if execution.state in _STARTED or will_retry(execution, services.store.policy()):
        return ev.Stopping(**how)
    if execution.state in (ExecutionState.STOPPING, ExecutionState.CANCELLED):
        return None
    raise ApiProblem(Code.ALREADY_ENDED, f"it is {execution.state}")
