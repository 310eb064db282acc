"""A cell of the study: one run, identified by its parameters, as in the rows of a table."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self, get_type_hints


@dataclass(frozen=True, slots=True, order=True)
class StudyCell:
    """Common part of all cells; `part` is the file with its row."""

    part: str

    def key(self) -> tuple[str, ...]:
        """Return the parameters as they stand in a table."""
        return tuple(str(getattr(self, name)) for name in self.names())

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the columns of `key`."""
        return tuple(field.name for field in fields(cls))

    @classmethod
    def from_row(cls, row: dict[str, str]) -> Self:
        """Return a cell read from a table."""
        types = get_type_hints(cls)
        return cls(**{name: types[name](row[name]) for name in cls.names()})
