"""A typed client of the HTTP API. Every method may raise the errors drawn in `zoe_client.errors`."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from zoe_client import wire
from zoe_client.calls.administration import Administration
from zoe_client.calls.arrays import Arrays
from zoe_client.calls.calls import Calls
from zoe_client.calls.files import Files
from zoe_client.calls.schedules import Schedules, StoredApplications
from zoe_client.calls.workflows import Workflows
from zoe_client.errors import TimedOut
from zoe_client.http.transport import path_part
from zoe_client.running.handles import ExecutionHandle
from zoe_client.running.options import MapOptions, SubmitOptions
from zoe_client.vocabulary import ExecutionState

if TYPE_CHECKING:
    from zoe_client.calls.terminals import Terminal
    from zoe_client.running.mapping import MapRun

_T = TypeVar("_T")
_R = TypeVar("_R")


class Client(Calls):
    """Client of one Zoe. Use it as a context manager, or call `close`.

    While the server does not answer, requests that may safely be repeated are retried for up to `patience_s`: reads,
    submissions (they carry an idempotency key) and cancellations. Others are retried only if no connection was made.
    `transport` replaces the network in tests. `zoe_client.AsyncClient` has the same methods."""

    @property
    def admin(self) -> Administration:
        """Administration of people."""
        return Administration(self)

    @property
    def arrays(self) -> Arrays:
        """Arrays: one application that runs for each of many indices."""
        return Arrays(self)

    @property
    def files(self) -> Files:
        """Files of your workspace, and of the tenant's shared one."""
        return Files(self, self._http, self._patience_s)

    @property
    def workflows(self) -> Workflows:
        """Workflows: executions that belong together."""
        return Workflows(self)

    @property
    def applications(self) -> StoredApplications:
        """Stored applications: run by name with parameters."""
        return StoredApplications(self)

    @property
    def schedules(self) -> Schedules:
        """Schedules: what runs at which times."""
        return Schedules(self)

    def wait(self, execution_id: str, timeout_s: float | None = None) -> wire.ExecutionView:
        """Return the execution after its end; TimedOut. Follow the stream of events, even if the server restarts."""
        deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
        for _ in self.follow(execution_id, deadline_s=deadline_s):
            pass
        return self.execution(execution_id)

    def wait_for_workflow(self, workflow_id: str, timeout_s: float | None = None) -> wire.WorkflowView:
        """Return the workflow after its end, even if the server restarts; TimedOut. Follow one step after another."""
        deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
        while (found := self.workflows.one(workflow_id)).ended_at_s is None:
            left_s = left_s_until(deadline_s)
            left = step_to_await(found)
            if left is None:  # of those that this user may see
                time.sleep(WORKFLOW_LOOK_S)
            elif left.entries is not None:
                self.arrays.wait(left.execution_id, left_s)
            else:
                self.wait(left.execution_id, left_s)
        return found

    def follow(
        self, execution_id: str, *, after: int = 0, deadline_s: float | None = None
    ) -> Iterator[tuple[wire.EventView, ExecutionState | None]]:
        """Yield every event of an execution until it has ended, each with its resulting state if that is known.

        `deadline_s` is a time of `time.monotonic`; TimedOut when it passes first."""
        parameters: dict[str, str | int] = {"execution_id": execution_id, "after": after}
        for event in self.stream("/events", parameters, deadline_s):
            view = wire.EventView.model_validate_json(event.data)
            state = STATE_AFTER.get(view.kind)
            yield view, state

    def follow_events(
        self, execution_id: str | None = None, *, after: int | None = None, all_tenants: bool = False
    ) -> Iterator[wire.EventView]:
        """Yield events as they happen, each once, even if the server restarts: of one execution until it has ended, or
        of all that the user sees, without an end.

        `after`: begin behind this id; None: with new events. `all_tenants`: for operators.
        """
        parameters: dict[str, str | int | None] = {
            "execution_id": execution_id,
            "after": after,
            "all_tenants": "true" if all_tenants else None,
        }
        given = {name: value for name, value in parameters.items() if value is not None}
        for event in self.stream("/events", given):
            if event.kind != "end":
                yield wire.EventView.model_validate_json(event.data)

    def terminal(self, execution_id: str, service_id: str, opening: wire.TerminalOpening) -> Terminal:
        """Run a command in a service; the caller reads its outputs and closes it."""
        from zoe_client.calls.terminals import Terminal  # few clients need its library

        path = f"/executions/{path_part(execution_id)}/services/{path_part(service_id)}/terminal"
        return Terminal(self.url, self._token, path, opening)

    def follow_logs(self, execution_id: str, service_id: str, offset: int = 0) -> Iterator[bytes]:
        """Yield a service's output until it has ended, each byte once, even if the server restarts."""
        path = f"/executions/{path_part(execution_id)}/services/{path_part(service_id)}/logs/stream"
        for event in self.stream(path, {"offset": offset}):
            if event.kind == "log":
                yield base64.b64decode(json.loads(event.data)["data"])

    def next_attempt(self, execution_id: str, service_id: str) -> wire.ServiceView | None:
        """Wait until a service is retried, and return the next attempt; None once the execution has ended."""
        for event, _ in self.follow(execution_id):
            retried = event.kind == "service_retried" and event.data.get("service_id") == service_id
            if retried or event.kind == "requeued":
                found = successor_of(self.execution(execution_id).services, service_id)
                if found is not None:
                    return found
        return successor_of(self.execution(execution_id).services, service_id)

    # -- for notebooks and scripts ---------------------------------------------------------------------------------
    def run(self, application: dict[str, Any], **how: Unpack[SubmitOptions]) -> ExecutionHandle:
        """Submit an application, and return what waits for it and shows it: `client.run(application).wait()`."""
        return ExecutionHandle(self, self.submit(application, **how))

    def map(self, function: Callable[[_T], _R], inputs: Iterable[_T], **how: Unpack[MapOptions]) -> MapRun[_T, _R]:
        """Call a function with each of the inputs, in services of their own; iterate over it for the results, in order.

        The function travels with what it refers to (cloudpickle, which must be installed here), and runs with the same
        Python as this one, or fails.
        """
        from zoe_client.running.mapping import start_map

        return start_map(self, function, inputs, how)


WORKFLOW_LOOK_S = 1.0
"""Pause between two looks at a workflow of which only steps run that are not visible."""
STATE_AFTER: dict[str, ExecutionState] = {
    "submitted": ExecutionState.SUBMITTED,
    "queued": ExecutionState.QUEUED,
    "requeued": ExecutionState.QUEUED,
    "start_planned": ExecutionState.STARTING,
    "running": ExecutionState.RUNNING,
    "stopping": ExecutionState.STOPPING,
}


def successor_of(services: Sequence[wire.ServiceView], service_id: str) -> wire.ServiceView | None:
    """Return the next attempt of a service; None if there is none."""
    own = next((service for service in services if service.id == service_id), None)
    later = [one for one in services if own and one.name == own.name and one.attempt > own.attempt]
    return min(later, key=lambda one: one.attempt, default=None)


def step_to_await(workflow: wire.WorkflowView) -> wire.StepView | None:
    """Return a step that has not ended; one with an execution if there is one, whose events tell its end at once."""
    left = [step for step in workflow.graph if step.ended_at_s is None]
    return next((step for step in left if step.entries is None), next(iter(left), None))


def left_s_until(deadline_s: float | None) -> float | None:
    """Return how much time is left until then, None without a bound; TimedOut."""
    if deadline_s is None:
        return None
    left_s = deadline_s - time.monotonic()
    if left_s <= 0:
        raise TimedOut("it took longer than the time allowed")
    return left_s
