"""A selection of JSON lines: those that begin in a byte range, and their wanted fields."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from storage_filters.csv.selection import COLUMNS_MAX, SelectionError
from zoe_lib.pushdown.column_types import ColumnType, type_of
from zoe_lib.pushdown.predicate import Predicate, PredicateError, columns, parse


@dataclass(frozen=True, slots=True)
class JsonSelection:
    """The lines that begin in bytes [start, end) of an object; `end` None: to the end of the object.

    fields: the wanted fields of each line's object, by the names that `where` and `types` use for them. where: the text
    of a predicate; empty: all lines. A field without a type may be read as any.
    """

    fields: Mapping[str, str]
    where: str = ""
    start: int = 0
    end: int | None = None
    types: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 < len(self.fields) <= COLUMNS_MAX or len(set(self.fields.values())) != len(self.fields):
            raise SelectionError(f"1 to {COLUMNS_MAX} different fields are required")
        if odd := next((name for name in self.fields.values() if not _is_plain(name)), None):
            raise SelectionError(f"the field {odd!r:.64} contains a quote, a backslash or a control character")
        if self.start < 0 or (self.end is not None and self.end < self.start):
            raise SelectionError("the byte range is invalid")
        try:
            used = columns(parse(self.where)) if self.where else frozenset()
        except PredicateError as error:
            raise SelectionError(f"where: {error}") from None
        if unknown := sorted(used - self.fields.keys()):
            raise SelectionError(f"there is no field {', '.join(unknown)}; the fields are {', '.join(self.fields)}")
        for name, type_ in self.types.items():
            if type_of(type_) is None:
                raise SelectionError(f"{name}: {type_!r:.64} is not a column type")

    @property
    def predicate(self) -> Predicate | None:
        """Return the predicate that lines must satisfy."""
        return parse(self.where) if self.where else None

    @property
    def column_types(self) -> Mapping[str, ColumnType]:
        """Return the types of fields that have one."""
        return {name: known for name, type_ in self.types.items() if (known := type_of(type_)) is not None}

    def to_json(self) -> str:
        """Return JSON for a header: ASCII, one line."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> JsonSelection:
        """Return the selection of the fields of a request. Raises SelectionError."""
        try:
            return cls(**fields)
        except (TypeError, AttributeError) as error:
            raise SelectionError(f"this is not a selection of JSON lines: {error}") from None


def _is_plain(name: str) -> bool:
    """Return whether the name is written in JSON as it is."""
    return not any(sign in '"\\' or sign < " " or "\ud800" <= sign <= "\udfff" for sign in name)
