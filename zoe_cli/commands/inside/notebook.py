"""notebook: open your notebook, which is started if none runs."""

from __future__ import annotations

import webbrowser
from typing import TYPE_CHECKING, Annotated, cast

import typer

from zoe_cli.commands.watching.notes.waiting import WaitingNote
from zoe_cli.context import options
from zoe_cli.exits import Exit
from zoe_cli.output import emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_client.calls.notebooks import ENDED
from zoe_client.errors import Conflict

if TYPE_CHECKING:
    from zoe_client.client import Client
    from zoe_client.quick.plain import Execution
    from zoe_client.wire import ExecutionView, OpenView


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "notebook", notebook, ("zoe notebook --browser", "zoe notebook --entry spark-notebook"))


def notebook(
    context: typer.Context,
    entry: Annotated[
        str | None,
        typer.Option(
            help="Open or start only this entry of the catalogue (default: open any, else start python-notebook)."
        ),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser", help="Open the URL in a browser on this machine instead of printing it.")
    ] = False,
) -> None:
    """Print a URL that opens your notebook, once and within a minute: your newest interactive execution with a page
    that has not ended, as the page does; else one is started. Its files stay in your workspace; its variables are lost
    when it ends.
    """
    with options(context).following() as client:
        execution = client.notebook(entry, started=_note_start)
        opened = _opened(client, execution)
    if browser:
        webbrowser.open(opened.url)
    else:
        emit(opened, options(context).output, Rows(("url",), [(opened.url,)]))


def _note_start(execution: ExecutionView) -> None:
    note(f"{execution.name} was submitted as {execution.id}; `zoe cancel {execution.id}` ends it")


def _opened(client: Client, execution: ExecutionView) -> OpenView:
    """Wait until it can be opened, and tell why it waits; exit with APPLICATION_FAILED if it ends before."""
    last = execution

    def look(now: ExecutionView) -> None:
        nonlocal last
        last = now
        waiting.tell()

    waiting = WaitingNote(lambda: cast("Execution", last.model_dump(mode="json")))
    try:
        return client.open_when_ready(execution.id, waits=look)
    except Conflict as error:
        if error.problem.code != ENDED:
            raise
        note(f"zoe: {str(error).rstrip('.')}; {error.problem.hint}")
        raise typer.Exit(Exit.APPLICATION_FAILED) from None
