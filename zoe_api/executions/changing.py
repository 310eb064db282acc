"""Change an execution for a user: read, decide, write, and retry if another writer was faster."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import structlog

from zoe_api.access.visibility import seen_execution
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.dependencies import Caller, check_if_match
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions.events import Event
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.lifecycle.consequences import missed_deadline
from zoe_lib.store.errors import ConcurrentUpdate

log = structlog.get_logger(__name__)

_ATTEMPTS_MAX = 5


def change(
    caller: Caller,
    execution_id: str,
    if_match: str | None,
    decide: Callable[[Execution], Event | Sequence[Event] | None],
) -> Execution:
    """Return the execution after the events from `decide`; unchanged if it returns none.

    `decide` may raise an ApiProblem. The principal needs the level `control`.
    """
    for _ in range(_ATTEMPTS_MAX):
        execution = seen_execution(caller, execution_id, ShareLevel.CONTROL)
        check_if_match(if_match, execution.version)
        decided = decide(execution)
        if not decided:
            return execution
        events = [decided] if isinstance(decided, Event) else list(decided)
        event = events[0]
        # A master that was away may not have noted yet that the deadline has passed.
        missed = missed_deadline(execution, event.at_s, caller.store.policy(), event.cause_id)
        events = events if missed is None else [missed, *events]
        try:
            changed = caller.store.append(execution.id, events, execution.version, None)
        except ConcurrentUpdate:
            continue
        caller.services.master.hint()
        log.info("changed", execution=execution_id, kind=event.kind, user=caller.user, state=changed.state.value)
        return changed
    raise ApiProblem(Code.CONFLICT, "the execution changes too often; try again")
