"""open: open a port of a running service in a browser."""

from __future__ import annotations

import webbrowser
from typing import Annotated

import typer

from zoe_cli.commands.words.arguments import Id
from zoe_cli.context import options
from zoe_cli.exits import Exit
from zoe_cli.output import emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_client.calls.notebooks import way_in, why_closed


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "open", open_port, ("zoe open x1m7xhnzn3f4144", "zoe open x1m7xhnzn3f4144 --port ui --browser"))


def open_port(
    context: typer.Context,
    execution_id: Id,
    port: Annotated[str | None, typer.Option(help="Name of the port (default: the first that can be opened).")] = None,
    service: Annotated[
        str | None, typer.Option(help="Service such as worker-0 (default: the first that has such a port).")
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser", help="Open the URL in a browser on this machine instead of printing it.")
    ] = False,
) -> None:
    """Print a URL that opens a running application in a browser. It works once, within a minute."""
    with options(context).client() as client:
        execution = client.execution(execution_id)
        chosen = way_in(execution, service, port)
        if chosen is None:
            why, hint = why_closed(execution, service, port)
            note(f"zoe: {why.rstrip('.')}; {hint}")
            raise typer.Exit(Exit.NOT_FOUND)
        opened = client.open_port(execution_id, *chosen)
    if browser:
        webbrowser.open(opened.url)
    else:
        emit(opened, options(context).output, Rows(("url",), [(opened.url,)]))
