"""ls, show: many executions, or one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated

import typer

from zoe_cli.commands.arguments import Id
from zoe_cli.commands.storage import bandwidth_of
from zoe_cli.commands.views import facts, rows_of, service_rows, timeline
from zoe_cli.context import options
from zoe_cli.output import Format, emit, note, table, write
from zoe_cli.registry import add
from zoe_cli.text import printable
from zoe_lib.domain.execution import ExecutionState, ServiceState
from zoe_lib.sdk import Client, ZoeError
from zoe_lib.wire import ExecutionList, ExecutionView, ServiceView

_PAGE_MAX = 500
_OPENS_MAX = 10  # Each of these is a question to the master.
_LABEL_WIDTH = 18


def register(app: typer.Typer) -> None:
    """Add the commands."""
    examples = ("zoe ls --state queued --state running", "zoe cancel $(zoe ls --state queued -o name)")
    add(app, "ls", ls, examples)
    add(app, "show", show, ("zoe show x1m7xhnzn3f4144", "zoe show x1m7xhnzn3f4144 -o json | jq .exit_code"))


def ls(
    context: typer.Context,
    state: Annotated[
        list[ExecutionState] | None,
        typer.Option("--state", "-s", help="Only executions in this state; may be repeated."),
    ] = None,
    user: Annotated[str | None, typer.Option(help="Only executions of this user.")] = None,
    name: Annotated[str | None, typer.Option(help="Only names that contain this text.")] = None,
    all_tenants: Annotated[
        bool, typer.Option("--all-tenants", help="Executions of all tenants; operators only.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Maximum number of executions.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="Cursor from which to continue an earlier list.")] = None,
) -> None:
    """List executions, newest first.

    READY: ready essential services of all, and elastic services after a plus. AGE: time since the submission. RAN: time
    from the placement to the end. WHY: the reason for waiting, or the cause of a failure.
    """
    with options(context).client() as client:
        page = _pages(client, state, user, name, all_tenants, limit, cursor)
    emit(page, options(context).output, rows_of(page.executions))
    if page.next_cursor:
        note(f"more: --cursor {page.next_cursor}")


def show(context: typer.Context, execution_id: Id) -> None:
    """Show one execution: why it waits or how it ended, its timeline and its services."""
    form = options(context).output
    with options(context).client() as client:
        execution = client.execution(execution_id)
        more = list(_more(client, execution)) if form is Format.TABLE else []
    if form is not Format.TABLE:
        emit(execution, form, rows_of([execution]))
        return
    lines = [*facts(execution), *more, ("", ""), *timeline(execution)]
    write("".join(f"{label:<{_LABEL_WIDTH}}{printable(text)}".rstrip() + "\n" for label, text in lines) + "\n")
    write(table(service_rows(execution)))


def _more(client: Client, execution: ExecutionView) -> Iterator[tuple[str, str]]:
    """Return what only the master knows; nothing while it does not answer."""
    with suppress(ZoeError):
        yield from bandwidth_of(client, execution)
    yield from _opens(client, execution)


def _opens(client: Client, execution: ExecutionView) -> Iterator[tuple[str, str]]:
    """Return where and how to open the ports meant for users, as far as the master knows."""
    ports = {
        str(component["name"]): [str(port["name"]) for port in component.get("ports", []) if port.get("proxied")]
        for component in execution.description.get("components", [])
    }
    ready = [s for s in execution.services if s.state is ServiceState.READY]
    wanted = [(service, port) for service in ready for port in ports.get(service.component, [])]
    for service, port in wanted[:_OPENS_MAX]:
        with suppress(ZoeError):
            address = client.port_address(execution.id, service.id, port)
            yield (
                "open",
                (f"{address.url} ({service.name}, {port}); to open it in a browser: {_open_command(service, port)}"),
            )


def _open_command(service: ServiceView, port: str) -> str:
    return f"zoe open {service.id.partition('.')[0]} --service {service.name} --port {port}"


def _pages(
    client: Client,
    states: list[ExecutionState] | None,
    user: str | None,
    name: str | None,
    all_tenants: bool,
    limit: int,
    cursor: str | None,
) -> ExecutionList:
    """Return this many executions, in as many pages as the server makes of them."""
    listed = ExecutionList(executions=[], next_cursor=cursor)
    while len(listed.executions) < limit:
        page_size = min(limit - len(listed.executions), _PAGE_MAX)
        page = client.executions(
            states=states, user=user, name=name, all_tenants=all_tenants, limit=page_size, cursor=listed.next_cursor
        )
        listed = ExecutionList(executions=listed.executions + page.executions, next_cursor=page.next_cursor)
        if page.next_cursor is None:
            break
    return listed
