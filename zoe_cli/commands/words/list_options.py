"""Options of `zoe ls`, and how they sort and print its rows."""

from __future__ import annotations

import string
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

import typer

from zoe_cli.commands.words.dates import since
from zoe_cli.commands.words.file_places import FORMS
from zoe_cli.commands.words.states import states_option
from zoe_cli.commands.words.views import run_s
from zoe_cli.text import printable
from zoe_client.quick.plain import Array, Summary
from zoe_client.words.state_choices import StateChoice


def _ran_s(row: Any, now_s: float) -> float:
    """Return the run time of an execution; for an array, the time since its submission."""
    if "indices" not in row:
        return run_s(row, now_s) or 0.0
    return float((now_s if row["ended_at_s"] is None else row["ended_at_s"]) - row["submitted_at_s"])


Row = TypeVar("Row", bound="Summary | Array")
_SORTS: dict[str, Callable[[Any, float], Any]] = {
    "id": lambda e, _: e["id"],
    "name": lambda e, _: e["name"].casefold(),
    "user": lambda e, _: e["user"],
    "state": lambda e, _: e["state"],
    "age": lambda e, now_s: now_s - e["submitted_at_s"],
    "ran": _ran_s,
    "priority": lambda e, _: e["priority"],
}


def sort_key(text: str) -> str:
    """Return the sort column; a leading minus reverses the order. BadParameter for unknown columns."""
    if text.removeprefix("-") not in _SORTS:
        raise typer.BadParameter(f"{text!r} is not a column to sort by; use one of {', '.join(_SORTS)}, or -name")
    return text


def sort(rows: Sequence[Row], key: str) -> list[Row]:
    """Return executions and arrays in this order; the sort is stable."""
    now_s, of = time.time(), _SORTS[key.removeprefix("-")]
    return sorted(rows, key=lambda row: of(row, now_s), reverse=key.startswith("-"))


def line_format(text: str) -> str:
    """Return a format such as '{id} {state}'; BadParameter if it names an unknown field."""
    known = Summary.__annotations__
    try:
        names = [name for _, name, spec, conversion in string.Formatter().parse(text) if _plain(name, spec, conversion)]
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is not a format: {error}; write '{{id}} {{state}}'") from None
    unknown = [name for name in names if name not in known]
    if unknown:
        raise typer.BadParameter(f"an execution has no {unknown[0]!r}; it has {', '.join(known)}")
    return text


def _plain(name: str | None, spec: str | None, conversion: str | None) -> bool:
    """Return whether this part of a format is a plain name; ValueError if it is an expression."""
    if name is None:
        return False
    if spec or conversion:
        raise ValueError(f"{name!r} is followed by more than a name")
    return True


def lines(executions: Sequence[Summary], text: str) -> str:
    """Return a line for each execution; missing fields are empty."""
    return "".join(printable(text.format_map(_texts(execution))) + "\n" for execution in executions)


def _texts(execution: Summary) -> dict[str, str]:
    reason = execution["reason"]
    values = {**execution, "reason": "" if reason is None else reason["sentence"]}
    return {name: "" if value is None else str(value) for name, value in values.items()}


Place = Annotated[str | None, typer.Argument(metavar="[PLACE]", help=f"List the files of a place instead: {FORMS}.")]
States = Annotated[
    list[str] | None,
    states_option(StateChoice, "Only those in these states, such as waiting,held,running; may be repeated."),
]
User = Annotated[str | None, typer.Option(help="Only executions of this user.")]
PartOfName = Annotated[str | None, typer.Option(help="Only names that contain this text.")]
Since = Annotated[
    float | None,
    typer.Option(
        "--since", parser=since, metavar="TIME", help="Only executions submitted since: 90m, 12h, 3d or a date."
    ),
]
Missed = Annotated[bool, typer.Option("--missed", help="Only executions that have missed their deadline.")]
AllTenants = Annotated[bool, typer.Option("--all-tenants", help="Executions of all tenants; operators only.")]
SortBy = Annotated[
    str | None,
    typer.Option("--sort", parser=sort_key, metavar="COLUMN", help="Sort by this column; -COLUMN reverses the order."),
]
Line = Annotated[
    str | None,
    typer.Option("--format", parser=line_format, metavar="TEXT", help="Print a line such as '{id} {state}' for each."),
]
Unfold = Annotated[
    bool, typer.Option("--unfold", help="List each execution of an array instead of one row for the array.")
]
Watch = Annotated[bool, typer.Option("--watch", "-w", help="List again every two seconds until interrupted.")]
Limit = Annotated[int | None, typer.Option("--limit", "-n", min=1, help="Maximum number of rows [50; files: all].")]
Cursor = Annotated[str | None, typer.Option(help="Cursor from which to continue an earlier list.")]
