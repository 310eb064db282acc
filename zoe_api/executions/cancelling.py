"""Cancel an execution for a user."""

from __future__ import annotations

from zoe_api.executions.changing import change
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.dependencies import Caller
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.submission import ending


def cancel(caller: Caller, execution_id: str, if_match: str | None = None) -> Execution:
    """Return the execution after the cancel. Idempotent while it stops; 409 if it has already
    ended for another reason."""

    def decide(execution: Execution) -> ev.Event | None:
        return cancellation(execution, caller)

    return change(caller, execution_id, if_match, decide)


def cancellation(execution: Execution, caller: Caller) -> ev.Event | None:
    """Return the event of a cancellation; None if it stops already. 409 if it has ended for another reason."""
    try:
        return ending.cancellation(
            execution,
            caller.store.policy(),
            caller.user,
            caller.request_id,
            clock=caller.services.clock,
        )
    except ending.HasEnded as ended:
        raise ApiProblem(Code.ALREADY_ENDED, str(ended)) from None
