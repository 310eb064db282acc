"""events: list or follow events of executions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from zoe_cli.commands.words.completion import execution_ids
from zoe_cli.commands.words.promise_words import promise_event_words
from zoe_cli.commands.words.store_words import store_words
from zoe_cli.context import options
from zoe_cli.output import Format, emit, write
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.text import printable
from zoe_cli.units import clock
from zoe_client import Client
from zoe_client.wire import EventList, EventView

_EXAMPLES = (
    "zoe events x1m7xhnzn3f4144",
    "zoe events x1m7xhnzn3f4144 -f",
    "zoe events -f -o json | jq -r 'select(.kind == \"ended\") | .execution_id'",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "events", events, _EXAMPLES)


def events(
    context: typer.Context,
    execution_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Id of an execution or an array.", autocompletion=execution_ids)
    ] = None,
    following: Annotated[
        bool,
        typer.Option("--follow", "-f", help="Follow until it has ended; without ID, follow all events."),
    ] = False,
    after: Annotated[
        int | None,
        typer.Option(min=0, help="Begin after the event with this number."),
    ] = None,
    all_tenants: Annotated[bool, typer.Option("--all-tenants", help="Events of all tenants; operators only.")] = False,
) -> None:
    """List the events of an execution or an array from the journal; or follow new ones. With -f, -o json writes one
    event per line.
    """
    if execution_id is None and not following:
        raise typer.BadParameter("give an execution, or --follow for all visible events")
    if not following:
        with options(context).client() as client:
            answer = all_events(client, str(execution_id), after or 0)
        rows = [_row(event) for event in answer.events]
        emit(answer, options(context).output, Rows(("id", "at", "event", "service", "what", "by"), rows))
        return
    begin = 0 if execution_id is not None and after is None else after
    form = options(context).output
    with options(context).following() as client:
        for event in client.follow_events(execution_id, after=begin, all_tenants=all_tenants):
            write(_line(event, form, execution_id is None))


def all_events(client: Client, execution_id: str, after: int) -> EventList:
    """Return all pages as one list."""
    found = page = client.events(execution_id, after=after).events
    while page:
        page = client.events(execution_id, after=page[-1].id).events
        found += page
    return EventList(events=found)


def _line(event: EventView, form: Format, of_all: bool) -> str:
    if form in (Format.JSON, Format.YAML):
        return json.dumps(event.model_dump(mode="json"), ensure_ascii=False) + "\n"
    if form is Format.NAME:
        return f"{event.id}\n"
    _, at, kind, service, what, _ = _row(event)
    words = (at, event.execution_id if of_all else "", kind, service, what)
    return printable("  ".join(str(word) for word in words if word)) + "\n"


def _row(event: EventView) -> tuple[object, ...]:
    service = str(event.data.get("service_id", "")).removeprefix(f"{event.execution_id}.")
    what = store_words(event.kind, event.data) or _program_text(event.data) or _event_text(event.data)
    return event.id, clock(event.at_s), event.kind, service, what, event.cause_id


def _program_text(data: Mapping[str, Any]) -> str:
    """Return how a prologue or an epilogue ended; empty for other events."""
    if "exit_code" not in data or "output" not in data:
        return ""
    return f"exit code {data['exit_code']}: {data['output']}".rstrip(": ")


def _event_text(data: Mapping[str, Any]) -> str:
    """Return the data of an event as text, if it has any."""
    reason, message = data.get("reason"), data.get("message") or data.get("what") or data.get("why")
    if isinstance(reason, dict):
        return str(reason.get("sentence", ""))
    left = f"left {data['left_files']}" if data.get("left_files") else ""
    if message or left:
        return "; ".join(str(entry) for entry in (message, left) if entry)
    if words := promise_event_words(data):
        return words
    if isinstance(counts := data.get("counts"), dict):  # for an array that has ended
        return ", ".join(f"{count} {state}" for state, count in counts.items())
    if counts := data.get("total_counts"):
        return ", ".join(f"{name}={count}" for name, count in counts.items())
    return " ".join(str(data[name]) for name in ("on", "state", "cause") if data.get(name))
