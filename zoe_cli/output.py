"""Results on standard output as table, JSON, YAML or names; notes and problems on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import yaml
from pydantic import BaseModel
from rich.console import Console
from rich.table import Table
from rich.text import Text

from zoe_lib.sdk import Refused, ZoeError
from zoe_lib.wire import Diagnostic


class Format(StrEnum):
    """How results are written."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Rows:
    """A table: its columns, its rows, and which column names a row."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    name_column: int = 0


def emit(result: BaseModel | dict[str, Any], form: Format, rows: Rows) -> None:
    """Write a result: whole as JSON or YAML, else the table or its names."""
    if form in (Format.JSON, Format.YAML):
        emit_data(result.model_dump(mode="json") if isinstance(result, BaseModel) else result, form)
    elif form is Format.NAME:
        for row in rows.rows:
            print(row[rows.name_column])
    else:
        _print_table(rows)


def emit_data(data: Any, form: Format = Format.JSON) -> None:
    """Write plain data as JSON or YAML."""
    if form is Format.YAML:
        yaml.safe_dump(data, sys.stdout, sort_keys=False, allow_unicode=True)
    else:
        print(json.dumps(data, indent=2, ensure_ascii=False))


def note(text: str) -> None:
    """A line for people, on standard error."""
    # Text, not markup: names and messages may come from anybody.
    Console(stderr=True, highlight=False).print(Text(text), soft_wrap=True)


def report(error: ZoeError) -> None:
    """Say what went wrong, with every diagnostic and the hint."""
    note(f"zoe: {error}")
    if isinstance(error, Refused):
        report_diagnostics(error.problem.errors)
        if error.problem.hint:
            note(f"hint: {error.problem.hint}")


def report_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    """One line per finding: where, what, what helps."""
    for one in diagnostics:
        note(f"  {one.pointer or '/'}: {one.message}" + (f" ({one.hint})" if one.hint else ""))


def _print_table(rows: Rows) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in rows.columns:
        table.add_column(column.upper(), overflow="fold")
    for row in rows.rows:
        table.add_row(*[Text("" if value is None else str(value)) for value in row])
    console = Console(highlight=False)
    # A pipe has no width: nothing is folded for a program that reads lines.
    console.print(table, width=None if console.is_terminal else 10_000, crop=False)


def duration(seconds: float) -> str:
    """Seconds as people say them: 4.2s, 3m05s, 2h10m, 5d03h."""
    if seconds < 60:
        return f"{max(seconds, 0.0):.1f}s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes}m{rest:02}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m" if hours < 48 else f"{hours // 24}d{hours % 24:02}h"


def size(amount: int) -> str:
    """Bytes in the largest binary unit that keeps at least one."""
    for unit, factor in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if amount >= factor:
            return f"{amount / factor:.1f} {unit}"
    return f"{amount} B"
