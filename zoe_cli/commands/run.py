"""run: from a description to an execution."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from zoe_cli.commands.arguments import ExitCodeFromApp
from zoe_cli.commands.documents import File, Settings, load_description
from zoe_cli.commands.ending import Timeout, finish, wait_for
from zoe_cli.commands.views import rows_of
from zoe_cli.context import options
from zoe_cli.output import emit, note
from zoe_cli.registry import add
from zoe_client.plain import Execution

if TYPE_CHECKING:
    from zoe_client.vocabulary import ShareLevel

_EXAMPLES = (
    "zoe run app.json",
    "zoe run app.json --name nightly --set worker.total_count=8 --wait",
    "zoe run app.json --follow --exit-code-from-app",
    "zoe run app.json --share bob:look",
    "zoe catalogue batch | zoe run - --set 'main.command=echo hello'",
    "id=$(zoe run app.json -o name)",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "run", run, _EXAMPLES)


def run(
    context: typer.Context,
    file: File,
    name: Annotated[str | None, typer.Option(help="Name of the execution (default: the application's name).")] = None,
    settings: Settings = None,
    priority: Annotated[
        int | None, typer.Option(help="Priority; executions with a higher one are considered first.")
    ] = None,
    deadline: Annotated[float | None, typer.Option(help="Seconds from now by which it should have ended.")] = None,
    wait: Annotated[
        bool, typer.Option("--wait", "-w", help="Wait until it has ended; exit with 0 if it succeeded.")
    ] = False,
    following: Annotated[
        bool,
        typer.Option("--follow", "-f", help="Wait, streaming the output of the service that ends the application."),
    ] = False,
    timeout: Timeout = None,
    exit_code_from_app: ExitCodeFromApp = False,
    key: Annotated[
        str | None,
        typer.Option("--idempotency-key", help="Key that makes a repeated submission return the same execution."),
    ] = None,
    share: Annotated[
        list[str] | None,
        typer.Option(metavar="USER:LEVEL", help="Share it: look, open or control; may be repeated (see `zoe share`)."),
    ] = None,
) -> None:
    """Submit an application, and optionally wait until it has ended."""
    if following and timeout is not None:
        raise typer.BadParameter("--timeout works with --wait, not with --follow")
    wanted = _shares(share) if share else []
    document = load_description(file, settings)
    with options(context).quick() as client:
        execution = client.submit(document, name=name, priority=priority, deadline_s=deadline, idempotency_key=key)
    if wanted:
        _share(context, execution["id"], wanted)
    for text in execution["notes"]:
        note(f"note: {text}")
    if not (wait or following or exit_code_from_app or timeout is not None):
        emit(execution, options(context).output, rows_of([execution]))
        return
    note(f"{execution['name']} is {execution['id']}")
    execution = _wait(context, execution, timeout, following)
    if not following:
        emit(execution, options(context).output, rows_of([execution]))
    finish(execution, exit_code_from_app)


def _shares(texts: list[str]) -> list[tuple[str, ShareLevel]]:
    from zoe_cli.commands.sharing import read_share

    return [read_share(text) for text in texts]


def _share(context: typer.Context, execution_id: str, wanted: list[tuple[str, ShareLevel]]) -> None:
    from zoe_cli.commands.sharing import share_with

    with options(context).client() as client:
        for user, level in wanted:
            share_with(client, execution_id, user, level)


def _wait(context: typer.Context, execution: Execution, timeout: float | None, following: bool) -> Execution:
    give_up_s = None if timeout is None else time.monotonic() + timeout
    with options(context).following() as client:
        if following:
            from zoe_cli.commands.output_of import choose, follow

            follow(client, execution["id"], choose(client.execution(execution["id"]), None).id)
        return wait_for(client, execution, give_up_s)
