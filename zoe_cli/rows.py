"""Rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rows:
    """A table: its columns and its rows. The first column identifies a row.

    `empty`: the note for a table without rows; no note if it is empty.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    empty: str = "the list is empty"
