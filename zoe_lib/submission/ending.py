"""Cancel submissions, for a user or for a schedule that replaces its last run."""

from __future__ import annotations

from typing import Any

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import arrays as domain
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.arrays import Array, ArrayEventKind, is_array
from zoe_lib.domain.executions.execution import WAITING_STATES, Cause, Execution, ExecutionState, Outcome
from zoe_lib.domain.lifecycle.consequences import missed_deadline, will_retry
from zoe_lib.store.errors import ConcurrentUpdate, NotFound
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.values import ArrayChange, ExecutionQuery

_STARTED = (ExecutionState.STARTING, ExecutionState.RUNNING)
_STATES = frozenset({*WAITING_STATES, *_STARTED})
_ATTEMPTS_MAX = 5
_PAGE = 500
_PAGES_MAX = 20


class HasEnded(Exception):  # noqa: N818 - the name is the fact
    """The execution has already ended in another way."""


def cancellation(
    execution: Execution, policy: Policy, user: str, cause_id: str, clock: Clock = SYSTEM_CLOCK
) -> ev.Event | None:
    """Return the event of a cancellation; None if it is already stopping. HasEnded."""
    how: dict[str, Any] = {
        "at_s": clock.now_s(),
        "cause_id": cause_id,
        "outcome": Outcome.CANCELLED,
        "cause": Cause.CANCELLED,
        "message": f"cancelled by {user}",
    }
    if execution.state in WAITING_STATES:
        return ev.Refused(**how)
    if execution.state in _STARTED or will_retry(execution, policy):
        return ev.Stopping(**how)
    if execution.state in (ExecutionState.STOPPING, ExecutionState.CANCELLED):
        return None
    raise HasEnded(f"its state is {execution.state}")


def cancel_run(store: PostgresStore, run_id: str, user: str, cause_id: str, clock: Clock = SYSTEM_CLOCK) -> None:
    """Cancel the unfinished parts of an execution or an array; repeating it continues with the rest."""
    if not is_array(run_id):
        _cancel(store, run_id, user, cause_id)
        return

    def decide(array: Array, states: bytearray) -> ArrayChange | None:
        after = domain.cancel(array, states, user) if array.open_count else array
        return None if after is array else ArrayChange(after, ArrayEventKind.CANCELLED, {"user": user})

    store.change_array(run_id, decide, clock.now_s(), cause_id)
    cursor: str | None = None
    for _ in range(_PAGES_MAX):
        page = store.executions(ExecutionQuery(array_id=run_id, states=_STATES, limit=_PAGE, cursor=cursor))
        for execution in page.executions:
            _cancel(store, execution.id, user, cause_id)
        if (cursor := page.next_cursor) is None:
            return


def _cancel(store: PostgresStore, execution_id: str, user: str, cause_id: str) -> None:
    policy = store.policy()
    for _ in range(_ATTEMPTS_MAX):
        try:
            execution = store.execution(execution_id)
            event = cancellation(execution, policy, user, cause_id)
            if event is not None:
                missed = missed_deadline(execution, event.at_s, policy, cause_id)
                events = [event] if missed is None else [missed, event]
                store.append(execution_id, events, execution.version, None)
        except (HasEnded, NotFound):
            return
        except ConcurrentUpdate:
            continue
        return
