"""Results on standard output as table, JSON, YAML or names; notes and problems on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn

from pydantic import BaseModel
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from zoe_cli.exits import Exit
from zoe_cli.text import json_text, printable, yaml_text
from zoe_lib.sdk import Refused, Unreachable, ZoeError
from zoe_lib.wire import Diagnostic

_STATE_STYLES = {
    **dict.fromkeys(("running", "ready", "succeeded"), "green"),
    **dict.fromkeys(("submitted", "queued", "created", "starting", "stopping", "cancelled"), "yellow"),
    **dict.fromkeys(("failed", "lost"), "red"),
}
_FOLDED = frozenset({"message", "refused because", "summary", "value", "how", "labels", "note"})
_NAME_WIDTH_MIN = 12
_WIDTH_MAX = 1_000_000
_UNREACHABLE_HINT = (
    "`make serve` starts Zoe on this machine; ZOE_URL or --url names another server; --patience 60 keeps trying"
)


class Format(StrEnum):
    """How results are written."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Rows:
    """A table: its columns and its rows. The first column names a row."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


def emit(result: BaseModel | dict[str, Any], form: Format, rows: Rows) -> None:
    """Write a result: whole as JSON or YAML, else the table or its names."""
    if form in (Format.JSON, Format.YAML):
        emit_data(result.model_dump(mode="json") if isinstance(result, BaseModel) else result, form)
    elif form is Format.NAME:
        write("".join(f"{printable(str(row[0]))}\n" for row in rows.rows))
    else:
        write(table(rows))


def emit_data(data: Any, form: Format = Format.JSON) -> None:
    """Write plain data as JSON or YAML."""
    write(yaml_text(data) if form is Format.YAML else json_text(data) + "\n")


def write(text: str) -> None:
    """Write to standard output at once; a reader that has gone away ends the command as it ends every program."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        end_of_pipe()


def end_of_pipe() -> NoReturn:
    """End because nobody reads standard output any more."""
    # The interpreter flushes once more when it ends; that must not fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(Exit.BROKEN_PIPE)


def note(text: str) -> None:
    """A line for people, on standard error."""
    print(printable(text), file=sys.stderr, flush=True)


def report(error: ZoeError) -> None:
    """Say what went wrong, with every diagnostic and the hint."""
    note(f"zoe: {error}")
    if isinstance(error, Refused):
        report_diagnostics(error.problem.errors)
        if error.problem.hint:
            note(f"hint: {error.problem.hint}")
    if isinstance(error, Unreachable):
        note(f"hint: {_UNREACHABLE_HINT}")


def report_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    """One line per finding: where, what, what helps."""
    for one in diagnostics:
        where = f"{one.pointer}: " if one.pointer else ""
        note(f"  {where}{one.message}" + (f" ({one.hint})" if one.hint else ""))


def table(rows: Rows) -> str:
    """Rows as aligned columns. To a terminal, sentences are folded and names shortened so that lines fit."""
    console = Console(highlight=False)
    width, name_width = _WIDTH_MAX, None
    if sys.stdout.isatty():
        # Where even that does not fit, whole lines are wrapped by the terminal.
        others = _least_width(console, _drawn(rows, name_width=1))
        name_width = max(console.width - others, _NAME_WIDTH_MIN)
        width = max(console.width, others + name_width)
    console = Console(highlight=False, width=width)
    with console.capture() as capture:
        console.print(_drawn(rows, name_width), crop=False)
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def _drawn(rows: Rows, name_width: int | None) -> Table:
    drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, column in enumerate(rows.columns):
        if column == "name" and number > 0:  # in the first place it is what people copy
            drawn.add_column("NAME", overflow="ellipsis", no_wrap=True, max_width=name_width)
        else:
            drawn.add_column(column.upper(), overflow="fold", no_wrap=column not in _FOLDED)
    for row in rows.rows:
        drawn.add_row(*[_cell(column, value) for column, value in zip(rows.columns, row, strict=True)])
    return drawn


def _least_width(console: Console, drawn: Table) -> int:
    return Measurement.get(console, console.options.update(max_width=_WIDTH_MAX), drawn).minimum


def _cell(column: str, value: object) -> Text:
    text = "" if value is None else printable(str(value))
    return Text(text, _STATE_STYLES.get(text, "") if column == "state" else "")
