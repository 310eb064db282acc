"""Types of CSV columns, by Spark's names for them, and what each can be compared with. Standard library only.

    string | boolean | byte | short | int | long | float | double | decimal(p,s) | date | timestamp

`tinyint`, `smallint`, `integer`, `bigint` and `real` are other names of some.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from struct import pack, unpack
from typing import Literal

from zoe_lib.pushdown.predicate import And, Comparison, IsNull, Not, Or, Predicate

Kind = Literal["string", "boolean", "byte", "short", "int", "long", "float", "double", "decimal", "date", "timestamp"]
NAMES = "string, boolean, byte, short, int, long, float, double, decimal(p,s), date or timestamp"
DIGITS_MAX = 38
"""Maximum digits of a Spark decimal."""
_EXACT_MAX = 2**53
"""Whole numbers up to this are exact in double precision."""

_PLAIN: Mapping[str, Kind] = {
    "string": "string", "boolean": "boolean", "byte": "byte", "tinyint": "byte", "short": "short", "smallint": "short",
    "int": "int", "integer": "int", "long": "long", "bigint": "long", "float": "float", "real": "float",
    "double": "double", "date": "date", "timestamp": "timestamp",
}  # fmt: skip
_BITS: Mapping[str, int] = {"byte": 8, "short": 16, "int": 32, "long": 64}
_DECIMAL = re.compile(r"decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)")
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\d)(?:[ T](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?)?")


@dataclass(frozen=True, slots=True)
class ColumnType:
    """The type of a column; `precision` and `scale` apply to decimals."""

    kind: Kind
    precision: int = 0
    scale: int = 0

    def __str__(self) -> str:
        """Return its Spark name."""
        return f"decimal({self.precision},{self.scale})" if self.kind == "decimal" else self.kind

    @property
    def is_integer(self) -> bool:
        """Return whether it holds whole numbers of a fixed size."""
        return self.kind in _BITS

    @property
    def bounds(self) -> tuple[int, int]:
        """Return the smallest and the largest whole number of the type, if `is_integer`."""
        half = 1 << (_BITS[self.kind] - 1)
        return -half, half - 1


def type_of(name: str) -> ColumnType | None:
    """Return the type of that name in any case of letters; None if there is none."""
    lower = name.strip().lower()
    if lower in _PLAIN:
        return ColumnType(_PLAIN[lower])
    found = _DECIMAL.fullmatch(lower)
    if found is None:
        return None
    precision, scale = int(found[1]), int(found[2])
    return ColumnType("decimal", precision, scale) if 1 <= precision <= DIGITS_MAX and scale <= precision else None


def date_of(text: str) -> date | None:
    """Return the day of a text `YYYY-MM-DD`."""
    found = _DATE.fullmatch(text)
    try:
        return date(int(found[1]), int(found[2]), int(found[3])) if found else None
    except ValueError:
        return None


def day_of_time(text: str) -> date | None:
    """Return the day of a text `YYYY-MM-DD` or `YYYY-MM-DD HH:MM:SS`, fractions of a second allowed, without a zone."""
    found = _TIMESTAMP.fullmatch(text)
    return date_of(found[1]) if found else None


def mismatches(predicate: Predicate, types: Mapping[str, ColumnType]) -> Iterator[str]:
    """Yield a sentence for each comparison that the column's type does not allow, or for which it is not exact."""
    match predicate:
        case Comparison(column=column):
            type_ = types.get(column)
            if wrong := _as_double(predicate) if type_ is None else _mismatch(predicate, type_):
                yield f"{column} has {f'the type {type_}' if type_ else 'no type'}: {wrong}"
        case IsNull():
            return
        case Not(term=term):
            yield from mismatches(term, types)
        case And(terms=terms) | Or(terms=terms):
            for term in terms:
                yield from mismatches(term, types)


def _mismatch(test: Comparison, type_: ColumnType) -> str:
    literal = test.literal
    if isinstance(literal, Decimal):
        if type_.kind in ("boolean", "date", "timestamp"):
            return _WANTED[type_.kind]
        if type_.is_integer or type_.kind == "decimal":
            return _too_long(literal, type_) or _out_of_range(literal, type_)
        return _as_float(test) if type_.kind == "float" else _as_double(test) if type_.kind == "string" else ""
    match type_.kind:
        case "string":
            return ""
        case "boolean":
            fits = literal.lower() in ("true", "false") and test.operator in ("=", "!=")
        case "date":
            fits = date_of(literal) is not None
        case "timestamp":
            fits = day_of_time(literal) is not None
        case _:
            fits = False
    return "" if fits else _WANTED.get(type_.kind, "compare it with a number")


def _too_long(literal: Decimal, type_: ColumnType) -> str:
    """Return a sentence if Spark, which compares such columns as decimals, would need more than 38 digits for both."""
    _, digits, exponent = literal.as_tuple()
    assert isinstance(exponent, int)  # the parser makes no infinities
    scale = max(-exponent, 0)
    whole = max(len(digits) + exponent, 1)
    own_whole, own_scale = (20, 0) if type_.is_integer else (type_.precision - type_.scale, type_.scale)
    if max(whole, own_whole) + max(scale, own_scale) <= DIGITS_MAX:
        return ""
    return f"the number has too many digits to be compared with it exactly (maximum: {DIGITS_MAX})"


def _out_of_range(literal: Decimal, type_: ColumnType) -> str:
    """Return a sentence if all values beyond the type's range, which are read as null, would be on one side."""
    if type_.is_integer:
        least, most = type_.bounds
        return "" if least <= literal <= most else f"it holds {least} to {most}, and other numbers are read as null"
    if abs(literal) < Decimal(10) ** (type_.precision - type_.scale):
        return ""
    return f"it has {type_.precision - type_.scale} digits before the point, and longer numbers are read as null"


def _as_float(test: Comparison) -> str:
    """Return a sentence if no value in single precision can equal the number."""
    literal = float(test.literal)
    try:
        held = unpack("f", pack("f", literal))[0] == literal
    except OverflowError:
        held = False
    if held or test.operator not in ("=", "!="):
        return ""
    return f"no number in single precision equals {test.literal}; use the type double"


def _as_double(test: Comparison) -> str:
    """Return a sentence if a column that is cast to double precision would equal other numbers, too."""
    if not isinstance(test.literal, Decimal) or abs(test.literal) <= _EXACT_MAX:
        return ""
    return (
        "it is compared in double precision, in which whole numbers above 2^53 are not exact; give it a type, such as "
        f'{{"name": "{test.column}", "type": "long"}} in columns, with "read": false if only where needs it'
    )


_WANTED = {
    "boolean": "compare it with 'true' or 'false', by = or !=",
    "date": "compare it with a date such as '2015-01-31'",
    "timestamp": "compare it with a time such as '2015-01-31 12:00:00', without a zone",
}
