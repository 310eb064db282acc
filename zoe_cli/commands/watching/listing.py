"""ls, show: list executions, or show one."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from zoe_cli.commands.watching.attempt_steps import steps
from zoe_cli.commands.watching.list_pages import ListPage, PageQuery
from zoe_cli.commands.words.arguments import Ids, for_each
from zoe_cli.commands.words.array_rows import all_rows, is_array, is_workflow
from zoe_cli.commands.words.documents import data_format
from zoe_cli.commands.words.list_options import (
    AllTenants,
    Cursor,
    Limit,
    Line,
    Missed,
    PartOfName,
    Place,
    Since,
    SortBy,
    States,
    Unfold,
    User,
    Watch,
    lines,
)
from zoe_cli.commands.words.usage_of import efficiency, ended_before, uses_of
from zoe_cli.commands.words.views import (
    asks_for_bandwidth,
    facts,
    is_short_of_instances,
    rows_of,
    service_rows,
    timeline,
)
from zoe_cli.context import options
from zoe_cli.output import Format, emit, emit_data, note, table, write
from zoe_cli.registry import add
from zoe_cli.text import printable
from zoe_cli.units import clock
from zoe_client.errors import ZoeError
from zoe_client.quick.plain import Execution, Service
from zoe_client.quick.quick import QuickClient
from zoe_client.vocabulary import TERMINAL_STATES, DeadlineStatus, ExecutionState, ServiceState

if TYPE_CHECKING:
    from zoe_client.wire import EventView

_OPENS_MAX = 10  # Each of these sends a request to the master.
_LABEL_WIDTH = 18
_ROWS = 50
_WATCH_S = 2.0
_CLEAR = "\x1b[H\x1b[2J"
_NO_EXECUTIONS = "no executions yet: `zoe catalogue` lists applications, `zoe run` submits one"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    examples = (
        "zoe ls --state queued --state running",
        "zoe ls --since 12h --sort -ran",
        "zoe ls --format '{id} {state} {exit_code}'",
        "zoe cancel $(zoe ls --state queued -o name)",
        "zoe ls :results",
    )
    add(app, "ls", ls, examples)
    add(
        app,
        "show",
        show,
        (
            "zoe show x1m7xhnzn3f4144",
            "zoe show ID --timeline",
            "zoe show x1m7xhnzn3f4144 -o json | jq .exit_code",
            "zoe show x1m7xhnzn3f4144 --description > again.json",
        ),
    )


def ls(
    context: typer.Context,
    place: Place = None,
    state: States = None,
    user: User = None,
    name: PartOfName = None,
    since_s: Since = None,
    missed: Missed = False,
    all_tenants: AllTenants = False,
    sort_by: SortBy = None,
    line: Line = None,
    unfold: Unfold = False,
    watch: Watch = False,
    limit: Limit = None,
    cursor: Cursor = None,
) -> None:
    """List executions, newest first, or files.

    READY: ready essential services of all, and elastic services after a plus; of an array, successful indices of all.
    AGE: time since the submission. RAN: time from the placement to the end. PROGRESS: the finished share, as reported
    by the program. DEADLINE: met, missed and why, at risk, or the time left. WHY: the reason for waiting, or the cause
    of a failure. --sort sorts the newest 10,000 rows before -n cuts them. --format is for executions, without arrays;
    it takes the names of -o json.
    """
    if place is not None:
        from zoe_cli.commands.watching.listing_files import list_files

        list_files(context, place, limit)
        return
    query = {
        "state": state,
        "user": user,
        "name": name,
        "submitted_from_s": since_s,
        "deadline": DeadlineStatus.MISSED.value if missed else None,
        "all_tenants": all_tenants or None,
        "arrays": None if unfold or missed else "false",
    }
    filters = {"state": state and ",".join(state), "user": user, "name": name, "since": since_s and clock(since_s)}
    filters |= {"deadline": "missed" if missed else None, "cursor": cursor}
    wanted = ", ".join(f"{what} {value}" for what, value in filters.items() if value)
    asked = PageQuery(query, limit or _ROWS, cursor, sort_by, arrays=not (unfold or line or missed))
    with options(context).quick() as client:
        while True:
            _write_list(asked.read(client), options(context).output, line, wanted)
            if not watch:
                return
            time.sleep(_WATCH_S)
            write(_CLEAR if sys.stdout.isatty() else "\n")


def _write_list(page: ListPage, form: Format, line: str | None, wanted: str) -> None:
    """Write the rows; `wanted`: the filters in words, empty without any."""
    executions = page.executions
    if line is not None:
        write(lines(executions, line))
    else:
        shown: dict[str, object] = {"executions": executions, "next_cursor": page.cursor, "searched_to_s": None}
        rows = all_rows(page.arrays, executions, page.order) if page.arrays else rows_of(executions)
        rows = replace(rows, empty=f"no executions that you may see match: {wanted}" if wanted else _NO_EXECUTIONS)
        emit({**shown, "arrays": page.arrays} if page.arrays else shown, form, rows)
    if page.cursor:
        note(f"more: --cursor {page.cursor}")


def show(
    context: typer.Context,
    execution_ids: Ids,
    only_steps: Annotated[
        bool,
        typer.Option(
            "--timeline", help="Show only the timeline: the steps of it and its services, and how long each took."
        ),
    ] = False,
    description: Annotated[
        bool, typer.Option("--description", help="Print only its description, as `zoe run` takes it.")
    ] = False,
) -> None:
    """Show executions: the reason to wait or the outcome, the timeline and the services. The id of an array or a
    workflow shows that instead.
    """
    for_each(context, execution_ids, partial(_show, context, only_steps=only_steps, description=description))


def _show(context: typer.Context, execution_id: str, *, only_steps: bool, description: bool) -> None:
    if description:
        with options(context).quick() as client:
            emit_data(client.execution(execution_id)["description"], data_format(context))
        return
    if is_array(execution_id) or is_workflow(execution_id):
        _show_array_or_workflow(context, execution_id, only_steps)
        return
    form = options(context).output
    if only_steps and form is Format.TABLE:
        with options(context).quick() as client:
            execution = client.execution(execution_id)
            write(table(steps(execution, _events(client, execution))))
        return
    with options(context).quick() as client:
        execution = client.execution(execution_id)
        more = list(_more(client, execution)) if form is Format.TABLE else []
    if form is not Format.TABLE:
        emit(execution, form, rows_of([execution]))
        return
    lines = [*facts(execution), *more, ("", ""), *timeline(execution)]
    write("".join(f"{label:<{_LABEL_WIDTH}}{printable(text)}".rstrip() + "\n" for label, text in lines) + "\n")
    write(table(service_rows(execution)))
    if execution["state"] == ExecutionState.FAILED:
        from zoe_cli.commands.watching.notes.last_lines import note_last_lines

        with options(context).client() as sdk, suppress(ZoeError):
            note_last_lines(sdk, execution)


def _show_array_or_workflow(context: typer.Context, whole_id: str, only_steps: bool) -> None:
    """Show an array or a workflow, as `zoe array show` and `zoe workflow show` do."""
    if only_steps:
        raise typer.BadParameter(
            "--timeline is for one execution, such as an index of an array or a step of a workflow"
        )
    if is_array(whole_id):
        from zoe_cli.commands.watching import array_views

        array_views.show(context, whole_id)
    else:
        from zoe_cli.commands.watching import workflow_views

        workflow_views.show(context, whole_id)


def _events(client: QuickClient, execution: Execution) -> list[EventView]:
    """Return the journal of a requeued execution; the marks of all others are complete."""
    if execution["attempt"] == 1:
        return []
    from zoe_cli.commands.watching.happening import all_events

    return all_events(client.sdk, execution["id"], 0).events


def _more(client: QuickClient, execution: Execution) -> Iterator[tuple[str, str]]:
    """Return details that the execution itself lacks, without those that the server or its master cannot give now."""
    if asks_for_bandwidth(execution):
        from zoe_cli.commands.storage.storage import bandwidth_of

        with suppress(ZoeError):
            yield from bandwidth_of(client.sdk, execution)
    if is_short_of_instances(execution):
        with suppress(ZoeError):
            fewer = client.sdk.explain(execution["id"]).fewer
            yield from [] if fewer is None else [("fewer", fewer.sentence)]
    if execution["state"] in TERMINAL_STATES:
        with suppress(ZoeError):
            measured = client.execution_usage(execution["id"])
            yield from efficiency(uses_of(execution, measured["usage"]))
            if not measured["usage"] and ended_before(execution, measured["interval_s"] or 0.0):
                yield "used CPU", "not measured: its services ended before the first sample"
    with suppress(ZoeError):
        yield from _price(client, execution)
    yield from _opens(client, execution)


def _price(client: QuickClient, execution: Execution) -> Iterator[tuple[str, str]]:
    """Return the cost so far, if there is a price list."""
    for use in client.use_of(execution["id"])["use"]:
        price = use["price"]
        if price is not None:
            unused = "" if use["unused"] is None else f", of which {use['unused']} for unused resources"
            yield "price", f"{price['amount']} {price['currency']}{unused}"
            yield from (("", text) for text in price["gaps"])


def _opens(client: QuickClient, execution: Execution) -> Iterator[tuple[str, str]]:
    """Return how to open the ports meant for users, if the master knows."""
    ports = {
        str(component["name"]): [str(port["name"]) for port in component.get("ports", []) if port.get("proxied")]
        for component in execution["description"].get("components", [])
    }
    ready = [s for s in execution["services"] if s["state"] == ServiceState.READY]
    wanted = [(service, port) for service in ready for port in ports.get(service["component"], [])]
    for service, port in wanted[:_OPENS_MAX]:
        with suppress(ZoeError):
            address = client.sdk.port_address(execution["id"], service["id"], port)
            yield (
                "open",
                (f"{address.url} ({service['name']}, {port}); to open it in a browser: {_open_command(service, port)}"),
            )


def _open_command(service: Service, port: str) -> str:
    return f"zoe open {service['id'].partition('.')[0]} --service {service['name']} --port {port}"
