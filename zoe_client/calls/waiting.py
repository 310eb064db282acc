"""Wait for executions and workflows, and follow their events and outputs. Both clients share this code."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from zoe_client import wire
from zoe_client.calls.arrays import Arrays
from zoe_client.calls.calls import Calls
from zoe_client.calls.notebooks import my_notebook, open_when_ready
from zoe_client.calls.workflows import Workflows
from zoe_client.errors import NotAllowed, TimedOut
from zoe_client.http.flow import answer_to, next_of
from zoe_client.http.sse import ServerEvent
from zoe_client.http.transport import path_part
from zoe_client.vocabulary import TERMINAL_STATES, ExecutionState

T = TypeVar("T")

# Pause between two polls of a workflow whose running steps are all invisible to the user.
_WORKFLOW_LOOK_S = 1.0
_NOT_FOR_JOBS = "not_for_jobs"
# Pauses between the looks of a job, which double.
_FIRST_LOOK_S, _LAST_LOOK_S = 0.2, 3.0
_STATE_AFTER: dict[str, ExecutionState] = {
    "submitted": ExecutionState.SUBMITTED,
    "queued": ExecutionState.QUEUED,
    "requeued": ExecutionState.QUEUED,
    "start_planned": ExecutionState.STARTING,
    "running": ExecutionState.RUNNING,
    "stopping": ExecutionState.STOPPING,
}


class Waiting(Calls):
    """Calls that take several requests, or a stream."""

    def wait(self, execution_id: str, timeout_s: float | None = None) -> wire.ExecutionView:
        """Return the execution after its end; TimedOut. Follow the stream of events, even if the server restarts."""
        return self.flow.perform(_wait(self, execution_id, timeout_s))

    def wait_for_workflow(self, workflow_id: str, timeout_s: float | None = None) -> wire.WorkflowView:
        """Return the workflow after its end, even if the server restarts; TimedOut. Follow one step after another."""
        return self.flow.perform(_wait_for_workflow(self, workflow_id, timeout_s))

    def notebook(
        self, entry: str | None = None, *, started: Callable[[wire.ExecutionView], object] | None = None
    ) -> wire.ExecutionView:
        """Return your notebook: your newest interactive execution with a page that has not ended; with `entry`, the
        newest one of this entry of the catalogue.

        If there is none, `entry` (default: `python-notebook`) is submitted, and `started` called with it. NotFound if
        the catalogue has no such notebook.
        """
        return self.flow.perform(my_notebook(self, entry, started))

    def open_when_ready(
        self,
        execution_id: str,
        timeout_s: float | None = None,
        *,
        waits: Callable[[wire.ExecutionView], object] | None = None,
    ) -> wire.OpenView:
        """Wait until an application can be opened, and return a URL at which a browser enters it, once and within a
        minute. `waits` is called with the execution at each look before. Conflict if it ends before, NotFound
        if it has no page, TimedOut.
        """
        return self.flow.perform(open_when_ready(self, execution_id, timeout_s, waits))

    def next_attempt(self, execution_id: str, service_id: str) -> wire.ServiceView | None:
        """Wait until a service is retried, and return the next attempt; None once the execution has ended."""
        return self.flow.perform(_next_attempt(self, execution_id, service_id))

    def follow(
        self, execution_id: str, *, after: int = 0, deadline_s: float | None = None
    ) -> Iterator[tuple[wire.EventView, ExecutionState | None]]:
        """Yield every event of an execution until it has ended, each with its resulting state if that is known.

        `deadline_s` is a time of `time.monotonic`; TimedOut once it has passed.
        """
        events = self.stream("/events", {"execution_id": execution_id, "after": after}, deadline_s)
        return self.flow.iterate(partial(_next_read, events, _with_state))

    def follow_events(
        self, execution_id: str | None = None, *, after: int | None = None, all_tenants: bool = False
    ) -> Iterator[wire.EventView]:
        """Yield events as they happen, each once, even if the server restarts: of one execution until it has ended, or
        of all visible executions, without an end.

        `after`: begin behind this id; None: with new events. `all_tenants`: for operators.
        """
        parameters = {"execution_id": execution_id, "after": after, "all_tenants": "true" if all_tenants else None}
        events = self.stream("/events", {name: value for name, value in parameters.items() if value is not None})
        return self.flow.iterate(partial(_next_read, events, _as_view))

    def follow_logs(self, execution_id: str, service_id: str, offset: int = 0) -> Iterator[bytes]:
        """Yield a service's output until it has ended, each byte once, even if the server restarts."""
        path = f"/executions/{path_part(execution_id)}/services/{path_part(service_id)}/logs/stream"
        return self.flow.iterate(partial(_next_read, self.stream(path, {"offset": offset}), _as_output))


async def _next_read(events: Iterator[ServerEvent], read: Callable[[ServerEvent], list[T]]) -> list[T] | None:
    event = await next_of(events)
    return None if event is None else read(event)


def _with_state(event: ServerEvent) -> list[tuple[wire.EventView, ExecutionState | None]]:
    return [(view, _STATE_AFTER.get(view.kind)) for view in _as_view(event)]


def _as_view(event: ServerEvent) -> list[wire.EventView]:
    return [wire.EventView.model_validate_json(event.data)]


def _as_output(event: ServerEvent) -> list[bytes]:
    return [base64.b64decode(json.loads(event.data)["data"])] if event.kind == "log" else []


async def _wait(calls: Waiting, execution_id: str, timeout_s: float | None) -> wire.ExecutionView:
    deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
    events = calls.follow(execution_id, deadline_s=deadline_s)
    try:
        while await next_of(events) is not None:
            pass
    except NotAllowed as refused:
        if refused.problem.code != _NOT_FOR_JOBS:
            raise
        return await _wait_by_looks(calls, execution_id, deadline_s)
    return await answer_to(calls.execution(execution_id))


async def _wait_by_looks(calls: Waiting, execution_id: str, deadline_s: float | None) -> wire.ExecutionView:
    """Return the execution after its end, with a token of a job, which gives no streams."""
    pause_s = _FIRST_LOOK_S
    while (found := await answer_to(calls.execution(execution_id))).state not in TERMINAL_STATES:
        left_s = _left_s_until(deadline_s)
        await answer_to(calls.flow.pause(pause_s if left_s is None else min(pause_s, left_s)))
        pause_s = min(2 * pause_s, _LAST_LOOK_S)
    return found


async def _wait_for_workflow(calls: Waiting, workflow_id: str, timeout_s: float | None) -> wire.WorkflowView:
    deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
    while (found := await answer_to(Workflows(calls).one(workflow_id))).ended_at_s is None:
        left_s = _left_s_until(deadline_s)
        step = _step_to_await(found)
        if step is None:  # of the executions that this user may see
            await answer_to(calls.flow.pause(_WORKFLOW_LOOK_S))
        elif step.entries is not None:
            await answer_to(Arrays(calls).wait(step.execution_id, left_s))
        else:
            await answer_to(calls.wait(step.execution_id, left_s))
    return found


async def _next_attempt(calls: Waiting, execution_id: str, service_id: str) -> wire.ServiceView | None:
    events = calls.follow(execution_id)
    while (followed := await next_of(events)) is not None:
        event, _ = followed
        retried = event.kind == "service_retried" and event.data.get("service_id") == service_id
        if retried or event.kind == "requeued":
            found = await _successor(calls, execution_id, service_id)
            if found is not None:
                return found
    return await _successor(calls, execution_id, service_id)


async def _successor(calls: Waiting, execution_id: str, service_id: str) -> wire.ServiceView | None:
    """Return the next attempt of a service; None if there is none."""
    services = (await answer_to(calls.execution(execution_id))).services
    own = next((service for service in services if service.id == service_id), None)
    later = [service for service in services if own and service.name == own.name and service.attempt > own.attempt]
    return min(later, key=lambda service: service.attempt, default=None)


def _step_to_await(workflow: wire.WorkflowView) -> wire.StepView | None:
    """Return a step that has not ended, preferably one with an execution, whose events report its end at once."""
    left = [step for step in workflow.graph if step.ended_at_s is None]
    return next((step for step in left if step.entries is None), next(iter(left), None))


def _left_s_until(deadline_s: float | None) -> float | None:
    """Return the seconds left until the deadline, None without one; TimedOut."""
    if deadline_s is None:
        return None
    left_s = deadline_s - time.monotonic()
    if left_s <= 0:
        raise TimedOut("it took longer than the time allowed")
    return left_s
