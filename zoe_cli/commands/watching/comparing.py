"""diff: what differs between two executions."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from zoe_cli.context import options
from zoe_cli.output import Format, emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows

_WIDTH = 60


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "diff", diff, ("zoe diff x1m7xhnzn3f4144 x1m7xk2v8q2d0c8", "zoe diff x1m7xk2v8q2d0c8"))


def diff(
    context: typer.Context,
    first: Annotated[str, typer.Argument(metavar="ID", help="Id of an execution.")],
    second: Annotated[str | None, typer.Argument(metavar="[ID]", help="Id of another execution.")] = None,
) -> None:
    """Show what differs between two executions: description, outcome, times and use. With one, compare it with the one
    before of its name."""
    with options(context).client() as client:
        found = client.diff(first) if second is None else client.diff(second, first)
    if options(context).output is Format.TABLE:
        earlier = found.before or "no execution before has its name and its user"
        note(f"{earlier} -> {found.after}")
        if found.hidden:
            note("values of environment variables and texts of files are not compared: one is only shared with you")
        if not found.complete:
            note("more differs than is listed")
    rows = [(one.part.value, one.path, _short(one.before), _short(one.after)) for one in found.entries]
    emit(found, options(context).output, Rows(("part", "field", "before", "after"), rows))


def _short(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."
