"""Rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rows:
    """A table: its columns and its rows. The first column identifies a row."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
