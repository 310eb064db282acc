"""Format rows as plain columns for pipes and files: importing Rich takes longer than a quick command runs."""

from __future__ import annotations

from zoe_cli.rows import Rows
from zoe_cli.text import printable


def plain_table(rows: Rows) -> str | None:
    """Return the text that Rich would draw without styles; None if a character may be wider than one column."""
    cells = [[column.upper() for column in rows.columns]]
    cells += [["" if value is None else printable(str(value)) for value in row] for row in rows.rows]
    if not all(cell.isascii() for row in cells for cell in row):
        return None
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return "".join(f"{line.rstrip()}\n" for line in lines)
