"""Find or start the user's notebook, and open an application once it is ready. Both clients share this code."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from zoe_client import wire
from zoe_client.errors import Conflict, NotFound, TimedOut
from zoe_client.http.flow import answer_to
from zoe_client.vocabulary import TERMINAL_STATES, ExecutionState

if TYPE_CHECKING:
    from zoe_client.calls.calls import Calls

ENTRY = "python-notebook"
"""Entry of the catalogue that a new notebook comes from."""
LIVE = (ExecutionState.SUBMITTED, ExecutionState.QUEUED, ExecutionState.STARTING, ExecutionState.RUNNING)
ENDED = "already_ended"
Look = Callable[[wire.ExecutionView], object]
_KIND = "interactive"
_LOOK_S = 0.5


def way_in(
    execution: wire.ExecutionView, service: str | None = None, port: str | None = None
) -> tuple[str, str] | None:
    """Return the ids of a ready service and of one of its proxied ports; None if there is none. service: its id, its
    component, or component and index, such as `worker-0`.
    """
    for component, names in _proxied(execution.description).items():
        wanted = [name for name in names if port in (None, name)]
        for one in execution.services:
            is_wanted = service in (None, one.id, one.component, f"{one.component}-{one.index}")
            if wanted and is_wanted and one.component == component and one.state == "ready":
                return one.id, wanted[0]
    return None


def why_closed(execution: wire.ExecutionView, service: str | None = None, port: str | None = None) -> tuple[str, str]:
    """Return why `way_in` finds nothing, in one sentence, and the way on."""
    name, state = execution.id, execution.state
    if state in TERMINAL_STATES or state is ExecutionState.STOPPING:
        how = {ExecutionState.STOPPING: "it is stopping"}.get(state, f"it has ended, {state}")
        what = f": {execution.message}" if execution.message else ""
        return f"{name} cannot be opened, as {how}{what}", f"`zoe show {name}` says how; submit it again to open it"
    proxied = {part: names for part, names in _proxied(execution.description).items() if names}
    if not proxied:
        hint = f"`zoe exec {name} sh` opens a shell in a service, `zoe logs {name}` shows the output"
        return f"{name} has no service with a page: none of its ports is `proxied`", hint
    wanted = {part: names for part, names in proxied.items() if port is None or port in names}
    if not wanted or not _names_one(service, execution, wanted):
        ports = ", ".join(f"{part}: {', '.join(names)}" for part, names in proxied.items())
        asked = " and ".join(text for text in (port and f"port {port}", service and f"service {service}") if text)
        return f"{name} has no {asked} that can be opened", f"these ports can be opened: {ports}"
    if state not in (ExecutionState.STARTING, ExecutionState.RUNNING):
        why = "" if execution.reason is None else f": {execution.reason.sentence.rstrip('.')}"
        return f"{name} waits, so it has no page yet{why}", f"`zoe explain {name}` says more"
    parts = ", ".join(wanted)
    return (
        f"{name} is {state}, and {parts} is not ready yet",
        f"try again; `zoe show {name}` shows services",
    )


def _names_one(service: str | None, execution: wire.ExecutionView, wanted: Mapping[str, list[str]]) -> bool:
    """Return whether a name is that of a service with such a port; before it exists, only its component is known."""
    if service is None or service in wanted:
        return True
    of_parts = [one for one in execution.services if one.component in wanted]
    known = any(service in (one.id, f"{one.component}-{one.index}") for one in of_parts)
    return known or (not of_parts and service.rpartition("-")[0] in wanted)


async def my_notebook(client: Calls, entry: str | None, started: Look | None) -> wire.ExecutionView:
    """Return the user's newest interactive execution with a page that has not ended and is not stopping; with `entry`,
    of this entry of the catalogue. Without one, submit `entry`, or ENTRY, and call `started` with it. NotFound.
    """
    document = None if entry is None else await _document(client, entry)
    if (found := await _newest(client, None if document is None else document["name"])) is not None:
        return found
    execution = await answer_to(client.submit(document or await _document(client, ENTRY)))
    if started is not None:
        started(execution)
    return execution


async def open_when_ready(
    client: Calls, execution_id: str, timeout_s: float | None, waits: Look | None
) -> wire.OpenView:
    """Return a URL of an execution once it can be opened; call `waits` with each look before. Conflict if it ends
    before, NotFound if it has no page, TimedOut.
    """
    deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
    while (way := way_in(execution := await answer_to(client.execution(execution_id)))) is None:
        if execution.state in TERMINAL_STATES:
            raise Conflict(_ended(execution))
        if not any(_proxied(execution.description).values()):
            title, hint = why_closed(execution)
            raise NotFound(wire.Problem(title=title, status=404, code="not_found", hint=hint))
        if deadline_s is not None and time.monotonic() >= deadline_s:
            raise TimedOut("it took longer than the time allowed")
        if waits is not None:
            waits(execution)
        await answer_to(client.flow.pause(_LOOK_S))
    return await answer_to(client.open_port(execution_id, *way))


async def _newest(client: Calls, application: str | None) -> wire.ExecutionView | None:
    """Return the newest interactive execution of the user that has a page and has not ended; None if there is none."""
    user, cursor = (await answer_to(client.me())).user, None
    while True:
        page = await answer_to(
            client.executions(states=[*LIVE], user=user, kind=_KIND, application=application, cursor=cursor)
        )
        for one in page.executions:
            execution = await answer_to(client.execution(one.id))
            if any(_proxied(execution.description).values()):
                return execution
        cursor = page.next_cursor
        if cursor is None:
            return None


async def _document(client: Calls, entry: str) -> dict[str, Any]:
    """Return the description of an entry; NotFound unless it is a notebook of the catalogue."""
    found = next((one for one in (await answer_to(client.catalogue())).entries if one.id == entry), None)
    if found is not None and found.document.get("kind") == _KIND:
        return found.document
    title = f"{entry} is not in the catalogue" if found is None else f"{entry} is not a notebook"
    hint = "`zoe catalogue` lists the entries"
    raise NotFound(wire.Problem(title=title, status=404, code="not_found", hint=hint))


def _ended(execution: wire.ExecutionView) -> wire.Problem:
    title = f"{execution.name} is {execution.state}"
    hint = f"see `zoe show {execution.id}`"
    return wire.Problem(title=title, detail=execution.message, status=409, code=ENDED, hint=hint)


def _proxied(description: dict[str, Any]) -> dict[str, list[str]]:
    """Return the names of proxied ports, by component."""
    return {
        component["name"]: [port["name"] for port in component.get("ports", []) if port.get("proxied")]
        for component in description["components"]
    }
