"""explain, events: why an execution waits, and what happened to it."""

from __future__ import annotations

import typer

from zoe_cli.commands.arguments import Id
from zoe_cli.context import options
from zoe_cli.output import Format, Rows, emit, note, table, write
from zoe_cli.registry import add
from zoe_cli.text import printable
from zoe_cli.units import clock
from zoe_lib.domain.execution import ExecutionState
from zoe_lib.sdk import Client
from zoe_lib.wire import EventList, Explanation


def register(app: typer.Typer) -> None:
    """Add the commands."""
    add(app, "explain", explain, ("zoe explain x1m7xhnzn3f4144",))
    add(app, "events", events, ("zoe events x1m7xhnzn3f4144",))


def explain(context: typer.Context, execution_id: Id) -> None:
    """Say why an execution is not running, and what refuses it on each node."""
    with options(context).client() as client:
        answer = client.explain(execution_id)
    form = options(context).output
    rows = [(node, part, text) for node, parts in answer.nodes.items() for part, text in parts.items()]
    refusals = Rows(("node", "component", "refused because"), rows)
    if not answer.detailed:
        note("note: the master does not answer; this is what was stored last")
    if form is not Format.TABLE:
        emit(answer, form, refusals)
        return
    write("".join(f"{printable(line)}\n" for line in _sentences(answer)))
    if rows:
        write("\n" + table(refusals))


def events(context: typer.Context, execution_id: Id) -> None:
    """List what happened to an execution, from the journal."""
    with options(context).client() as client:
        answer = _all_events(client, execution_id)
    rows = [
        (e.id, clock(e.at_s), e.kind, e.data.get("service_id", "").removeprefix(f"{execution_id}."), e.cause_id)
        for e in answer.events
    ]
    emit(answer, options(context).output, Rows(("id", "at", "event", "service", "by"), rows))


def _all_events(client: Client, execution_id: str) -> EventList:
    """All pages in one list."""
    found = client.events(execution_id).events
    page = found
    while page:
        page = client.events(execution_id, after=page[-1].id).events
        found += page
    return EventList(events=found)


def _sentences(answer: Explanation) -> list[str]:
    if answer.reason is None:
        verb = "has" if answer.state in (ExecutionState.SUCCEEDED, ExecutionState.FAILED) else "is"
        return [f"It does not wait: it {verb} {answer.state.value}."]
    lines = [answer.reason.sentence]
    if answer.ahead:
        lines.append(f"{answer.ahead} {'execution is' if answer.ahead == 1 else 'executions are'} ahead of it.")
    if answer.reason.hint:
        lines.append(f"Hint: {answer.reason.hint}")
    return lines
