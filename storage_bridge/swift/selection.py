"""What a store is asked to deliver of a CSV object: which records of which byte range, which columns of them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

from zoe_lib.predicate import Predicate, PredicateError, columns, parse

COLUMNS_MAX = 4096
HEADER_BYTES_MAX = 128 * 1024


class SelectionError(ValueError):
    """A selection that makes no sense, or not for this object; the message says why."""


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """How records are written. Each line is one record, as Spark reads files that it may split.

    A quoted field may hold delimiters and doubled quotes, and quotes after `escape`, but no line ends. With the quote
    itself as `escape`, quotes are doubled and nothing else is escaped (RFC 4180).
    """

    delimiter: str = ","
    quote: str = '"'
    escape: str = "\\"
    header: bool = False

    def __post_init__(self) -> None:
        for name in ("delimiter", "quote", "escape"):
            value = getattr(self, name)
            if len(value) != 1 or not value.isascii() or value in "\r\n\0":
                raise SelectionError(f"{name} must be one ASCII character and no line end")
        if self.delimiter in (self.quote, self.escape) or self.delimiter.isalnum():
            raise SelectionError("the delimiter must differ from quote and escape, and be no letter or digit")


@dataclass(frozen=True, slots=True)
class Selection:
    """The records that begin in bytes [start, end) of an object; `end` None: to the end of the object.

    names: all columns of the object, in order. columns: those wanted, in the order wanted; empty: all.
    where: the text of a predicate over columns; empty: all records.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...] = ()
    where: str = ""
    start: int = 0
    end: int | None = None
    csv: CsvFormat = field(default_factory=CsvFormat)

    def __post_init__(self) -> None:
        if not 0 < len(self.names) <= COLUMNS_MAX or len(set(self.names)) != len(self.names):
            raise SelectionError(f"1 to {COLUMNS_MAX} different column names are needed")
        if self.start < 0 or (self.end is not None and self.end < self.start):
            raise SelectionError("the byte range is none")
        try:
            used = set(self.columns) | (columns(parse(self.where)) if self.where else set())
        except PredicateError as error:
            raise SelectionError(f"where: {error}") from None
        if unknown := sorted(used - set(self.names)):
            raise SelectionError(f"there is no column {', '.join(unknown)}; there are {', '.join(self.names)}")
        if len(set(self.columns)) != len(self.columns):
            raise SelectionError("a column is wanted twice")

    @property
    def wanted(self) -> tuple[int, ...]:
        """Positions of the columns to deliver."""
        return tuple(self.names.index(name) for name in self.columns or self.names)

    @property
    def predicate(self) -> Predicate | None:
        """What rows must fulfil."""
        return parse(self.where) if self.where else None

    def to_json(self) -> str:
        """For a header: ASCII, one line."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Selection:
        """The opposite of `to_json`; SelectionError."""
        try:
            fields = json.loads(text)
            csv = CsvFormat(**fields.pop("csv"))
            for name in ("names", "columns"):
                fields[name] = tuple(map(str, fields[name]))
            return cls(**fields, csv=csv)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            if isinstance(error, SelectionError):
                raise
            raise SelectionError(f"not a selection: {error}") from None
