"""diff: compare two executions."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from zoe_cli.context import options
from zoe_cli.output import Format, emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.units import clock, duration, size

_WIDTH = 60


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "diff", diff, ("zoe diff x1m7xhnzn3f4144 x1m7xk2v8q2d0c8", "zoe diff x1m7xk2v8q2d0c8"))


def diff(
    context: typer.Context,
    first: Annotated[str, typer.Argument(metavar="ID", help="Id of an execution.")],
    second: Annotated[str | None, typer.Argument(metavar="[ID]", help="Id of another execution.")] = None,
) -> None:
    """Show the differences between two executions: description, outcome, times and use. With one ID, compare it with
    the previous execution of the same name.
    """
    with options(context).client() as client:
        found = client.diff(first) if second is None else client.diff(second, first)
    if options(context).output is Format.TABLE:
        if found.before is None:
            note(f"{found.after} is the first execution of this name and user; compare it with another: zoe diff ID ID")
            return
        note(f"{found.before} -> {found.after}")
        if found.hidden:
            note("values of environment variables and texts of files are not compared: one is only shared with you")
        if not found.complete:
            note("there are more differences than listed")
    rows = [
        (entry.part.value, entry.path, _short(entry.before, entry.path), _short(entry.after, entry.path))
        for entry in found.entries
    ]
    emit(found, options(context).output, Rows(("part", "field", "before", "after"), rows, "no differences"))


def _short(value: Any, path: str) -> str:
    text = "" if value is None else _text(value, path)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."


def _text(value: Any, path: str) -> str:
    """Return a value as `zoe show` does: times, durations and sizes with their units, by the field's name."""
    name = path.rpartition("/")[2]
    if isinstance(value, int | float) and not isinstance(value, bool):
        if name.endswith("_at_s"):
            return clock(value)
        if name.endswith("_s"):
            return duration(value)
        if name.endswith("_bytes"):
            return size(value)
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
