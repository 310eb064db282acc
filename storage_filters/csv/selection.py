"""Selection from a CSV object: the records of a byte range, and columns of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from zoe_lib.pushdown.column_types import ColumnType, type_of
from zoe_lib.pushdown.predicate import Predicate, PredicateError, columns, parse

COLUMNS_MAX = 4096
HEADER_BYTES_MAX = 128 * 1024


class SelectionError(ValueError):
    """A selection is invalid, or invalid for this object; the message says why."""


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """How records are written. Each line is one record, as Spark reads files that it may split.

    A quoted field may contain delimiters and doubled quotes, and quotes after `escape`, but no line ends. With the
    quote itself as `escape`, quotes are doubled and nothing else is escaped (RFC 4180). A field equal to `null_text` is
    null, and so is an empty one without quotes.
    """

    delimiter: str = ","
    quote: str = '"'
    escape: str = "\\"
    header: bool = False
    null_text: str = ""

    def __post_init__(self) -> None:
        for name in ("delimiter", "quote", "escape"):
            value = getattr(self, name)
            if len(value) != 1 or not value.isascii() or value in "\r\n\0":
                raise SelectionError(f"{name} must be one ASCII character other than a line end")
        if self.delimiter in (self.quote, self.escape) or self.delimiter.isalnum():
            raise SelectionError("the delimiter must differ from quote and escape, and must not be a letter or digit")
        if not (self.quote + self.escape).isprintable() or " " in self.quote + self.escape:
            raise SelectionError("quote and escape must be visible characters")
        if not isinstance(self.null_text, str) or any(sign in self.null_text for sign in "\r\n"):
            raise SelectionError("null_text must be a string without line ends")


@dataclass(frozen=True, slots=True)
class Selection:
    """The records that begin in bytes [start, end) of an object; `end` None: to the end of the object.

    names: all columns of the object, in order. columns: the wanted ones, in the wanted order; empty: all. where: the
    text of a predicate over columns; empty: all records. types: of columns, by the names of `column_types`; a column
    without a type may be read as any. in_place: wanted columns keep their position, with empty fields before them, and
    lines whose reading depends on the reader's settings are delivered whole. padded: with as many delimiters as there
    are between all columns.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...] = ()
    where: str = ""
    start: int = 0
    end: int | None = None
    csv: CsvFormat = field(default_factory=CsvFormat)
    types: Mapping[str, str] = field(default_factory=dict)
    in_place: bool = False
    padded: bool = False

    def __post_init__(self) -> None:
        if not 0 < len(self.names) <= COLUMNS_MAX or len(set(self.names)) != len(self.names):
            raise SelectionError(f"1 to {COLUMNS_MAX} different column names are required")
        if self.start < 0 or (self.end is not None and self.end < self.start):
            raise SelectionError("the byte range is invalid")
        try:
            used = set(self.columns) | (columns(parse(self.where)) if self.where else set())
        except PredicateError as error:
            raise SelectionError(f"where: {error}") from None
        if unknown := sorted(used - set(self.names)):
            raise SelectionError(f"there is no column {', '.join(unknown)}; the columns are {', '.join(self.names)}")
        if twice := [name for name, count in Counter(self.columns).items() if count > 1]:
            raise SelectionError(f"column {twice[0]} is selected twice; name each column once")
        for name, type_ in self.types.items():
            if type_of(type_) is None:
                raise SelectionError(f"{name}: {type_!r:.64} is not a column type")

    @property
    def wanted_positions(self) -> tuple[int, ...]:
        """Return the positions of the columns to deliver."""
        positions = tuple(self.names.index(name) for name in self.columns or self.names)
        return tuple(sorted(positions)) if self.in_place else positions

    @property
    def predicate(self) -> Predicate | None:
        """Return the predicate that rows must satisfy."""
        return parse(self.where) if self.where else None

    @property
    def column_types(self) -> Mapping[str, ColumnType]:
        """Return the types of columns that have one."""
        return {name: known for name, type_ in self.types.items() if (known := type_of(type_)) is not None}

    def to_json(self) -> str:
        """Return JSON for a header: ASCII, one line."""
        return json.dumps(compatible_fields(asdict(self)), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Selection:
        """Return the selection of the JSON of `to_json`; Raises SelectionError."""
        try:
            fields = json.loads(text)
            csv = CsvFormat(**fields.pop("csv"))
            for name in ("names", "columns"):
                fields[name] = tuple(map(str, fields[name]))
            fields["types"] = {str(name): str(type_) for name, type_ in fields.get("types", {}).items()}
            return cls(**fields, csv=csv)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            if isinstance(error, SelectionError):
                raise
            raise SelectionError(f"this is not a selection: {error}") from None


def compatible_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields without effect-free ones that filters of an earlier version do not know."""
    if not fields["types"]:
        del fields["types"]
    if not fields["csv"]["null_text"]:
        del fields["csv"]["null_text"]
    if not fields.get("in_place"):
        fields.pop("in_place", None)
    if not fields.get("padded"):
        fields.pop("padded", None)
    return fields
