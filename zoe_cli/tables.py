"""Draw rows as aligned columns; a separate module, because importing the drawing library is slow."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from zoe_cli.rows import Rows
from zoe_cli.text import printable

_STATE_STYLES = {
    **dict.fromkeys(("running", "ready", "succeeded"), "green"),
    **dict.fromkeys(("submitted", "queued", "created", "starting", "stopping", "cancelled"), "yellow"),
    **dict.fromkeys(("failed", "lost"), "red"),
}
_FOLDED = frozenset({"message", "refused because", "summary", "value", "how", "labels", "note"})
_NAME_WIDTH_MIN = 12
_WIDTH_MAX = 1_000_000


def draw_table(rows: Rows) -> str:
    """Return rows as aligned columns. On a terminal, fold sentences and shorten names so that lines fit."""
    console = Console(highlight=False, markup=False, emoji=False)
    width, name_width = _WIDTH_MAX, None
    if sys.stdout.isatty():
        # If even that does not fit, the terminal wraps whole lines.
        others = _least_width(console, _table(rows, name_width=1))
        name_width = max(console.width - others, _NAME_WIDTH_MIN)
        width = max(console.width, others + name_width)
    console = Console(highlight=False, markup=False, emoji=False, width=width)
    with console.capture() as capture:
        console.print(_table(rows, name_width), crop=False)
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def _table(rows: Rows, name_width: int | None) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, column in enumerate(rows.columns):
        if column == "name" and number > 0:  # people copy the first column
            table.add_column("NAME", overflow="ellipsis", no_wrap=True, max_width=name_width)
        else:
            table.add_column(column.upper(), overflow="fold", no_wrap=column not in _FOLDED)
    for row in rows.rows:
        table.add_row(*[_cell(column, value) for column, value in zip(rows.columns, row, strict=True)])
    return table


def _least_width(console: Console, table: Table) -> int:
    return Measurement.get(console, console.options.update(max_width=_WIDTH_MAX), table).minimum


def _cell(column: str, value: object) -> Text:
    text = "" if value is None else printable(str(value))
    return Text(text, _STATE_STYLES.get(text, "") if column == "state" else "")
