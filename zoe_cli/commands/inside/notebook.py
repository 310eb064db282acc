"""notebook: open your notebook, which is started if none runs."""

from __future__ import annotations

import time
import webbrowser
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from zoe_cli.commands.inside.opening import service_and_port
from zoe_cli.commands.watching.notes.waiting import WaitingNote
from zoe_cli.context import options
from zoe_cli.exits import Exit
from zoe_cli.output import emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_client.vocabulary import TERMINAL_STATES, ExecutionState

if TYPE_CHECKING:
    from zoe_client.client import Client
    from zoe_client.quick.plain import Execution
    from zoe_client.wire import ExecutionView

_LIVE = [ExecutionState.RUNNING, ExecutionState.STARTING, ExecutionState.QUEUED, ExecutionState.SUBMITTED]
_POLL_S = 0.5


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "notebook", notebook, ("zoe notebook --browser", "zoe notebook --entry spark-notebook"))


def notebook(
    context: typer.Context,
    entry: Annotated[
        str, typer.Option(help="Entry of the catalogue to start, if none of it runs.")
    ] = "python-notebook",
    browser: Annotated[
        bool, typer.Option("--browser", help="Open the URL in a browser on this machine instead of printing it.")
    ] = False,
) -> None:
    """Print a URL that opens your notebook, once and within a minute. Your newest one that has not ended is taken; else
    one is started. Its files stay in your workspace; its variables are lost when it ends.
    """
    with options(context).following() as client:
        execution = _ready(client, _chosen(client, entry))
        opened = client.open_port(execution.id, *cast("tuple[str, str]", service_and_port(execution)))
    if browser:
        webbrowser.open(opened.url)
    else:
        emit(opened, options(context).output, Rows(("url",), [(opened.url,)]))


def _chosen(client: Client, entry: str) -> ExecutionView:
    """Return the user's newest live execution of the entry, or submit it; exit with NOT_FOUND without such an entry."""
    found = next((one for one in client.catalogue().entries if one.id == entry), None)
    if found is None or found.document.get("kind") != "interactive":
        why = "is not a notebook" if found else "is not in the catalogue"
        note(f"zoe: {entry} {why}; `zoe catalogue` lists the entries")
        raise typer.Exit(Exit.NOT_FOUND)
    application: dict[str, Any] = found.document
    live = client.executions(states=_LIVE, user=client.me().user).executions
    newest = next((one for one in live if one.application == application["name"]), None)
    if newest is not None:
        return client.execution(newest.id)
    execution = client.submit(application)
    note(f"{execution.name} was submitted as {execution.id}; `zoe cancel {execution.id}` ends it")
    return execution


def _ready(client: Client, execution: ExecutionView) -> ExecutionView:
    """Wait until it can be opened, and tell why it waits; exit with APPLICATION_FAILED if it ends before."""
    waiting = WaitingNote(lambda: cast("Execution", execution.model_dump(mode="json")))
    while service_and_port(execution) is None:
        if execution.state in TERMINAL_STATES:
            note(f"zoe: {execution.name} is {execution.state}: {execution.message}; see `zoe show {execution.id}`")
            raise typer.Exit(Exit.APPLICATION_FAILED)
        waiting.tell()
        time.sleep(_POLL_S)
        execution = client.execution(execution.id)
    return execution
