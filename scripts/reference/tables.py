"""Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; bars within cells are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def page(title: str, source: str, *parts: str) -> str:
    """Return a page with a note on its source."""
    return "\n".join((f"# {title}\n", f"Written by `make docs` from {source}; do not edit.\n", *parts))


def _cell(value: object) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")
