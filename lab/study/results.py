"""The raw figures of the study: one CSV file per part, one row per run, written as runs end, so that it can be
resumed.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.study.cells import Cell
from lab.study.log_cells import LOG_PART, LogCell
from lab.study.places_cells import PLACES_PART, PlacesCell
from lab.study.sharing_cells import SHARING_PART, SharingCell

Row = dict[str, str]
_KINDS: Mapping[str, type[Cell]] = {SHARING_PART: SharingCell, PLACES_PART: PlacesCell}
AnyCell = Cell | LogCell


class Results:
    """The files of one folder. An incomplete row of an interrupted process is ignored and run again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def rows(self, part: str) -> list[tuple[Cell, Row]]:
        """Return all complete rows of a part on generated workloads."""
        kind = _KINDS.get(part, Cell)
        return [(kind.from_row(row), row) for row in self._complete(part)]

    def log_rows(self) -> list[tuple[LogCell, Row]]:
        """Return all complete rows of the part on logs."""
        return [(LogCell.from_row(row), row) for row in self._complete(LOG_PART)]

    def _any_rows(self, part: str) -> Sequence[tuple[AnyCell, Row]]:
        return self.log_rows() if part == LOG_PART else self.rows(part)

    def _complete(self, part: str) -> list[Row]:
        path = self._path(part)
        if not path.exists():
            return []
        with path.open(newline="") as file:
            return [row for row in csv.DictReader(file) if None not in row.values() and None not in row]

    def completed_cells(self, applications: int) -> set[AnyCell]:
        """Return the cells that have been run with this many applications."""
        return {
            cell
            for path in self._folder.glob("*.csv")
            for cell, row in self._any_rows(path.stem)
            if int(row["applications"]) == applications
        }

    def add(self, cell: AnyCell, figures: Mapping[str, Any]) -> None:
        """Append one row."""
        path = self._path(cell.part)
        there = path.read_text() if path.exists() else ""
        with path.open("a", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if not there:
                writer.writerow([*cell.names(), *figures])
            elif not there.endswith("\n"):
                file.write("\n")  # after an incomplete row
            writer.writerow([*cell.key(), *(_text(value) for value in figures.values())])

    def sort(self, wanted: Sequence[AnyCell]) -> None:
        """Sort the rows of every file into the order of the cells; unknown ones come last."""
        position = {cell: number for number, cell in enumerate(wanted)}
        for part in {cell.part for cell in wanted}:
            rows = sorted(self._any_rows(part), key=lambda row: position.get(row[0], len(position)))
            self._write(part, [row for _, row in rows])

    def _write(self, part: str, rows: Sequence[Row]) -> None:
        if not rows:
            return
        draft = self._path(part).with_suffix(".draft")
        with draft.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        draft.replace(self._path(part))

    def _path(self, part: str) -> Path:
        return self._folder / f"{part}.csv"


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
