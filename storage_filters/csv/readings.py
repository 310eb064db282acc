"""How Spark can read a field under its column's type, and thus whether a row may be wanted; one value at a time.

A view delivers a superset. If Spark's reading is uncertain (blanks around a number, `NaN`, `7d`, a day without its
zeros), every outcome is possible, and the row is kept: Spark decides. A column without a type may be read in any way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

from storage_filters.csv.parser import Value
from zoe_lib.pushdown.column_types import ColumnType, date_of, day_of_time
from zoe_lib.pushdown.predicate import And, Comparison, IsNull, Not, Operator, Or, Predicate

Types = Mapping[str, ColumnType]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a condition may be true, and whether it may be false; neither: it is null."""

    true: bool
    false: bool

    def __or__(self, other: Outcome) -> Outcome:
        """Return the possible outcomes of either of two readings."""
        return Outcome(self.true or other.true, self.false or other.false)


NULL, ANY = Outcome(False, False), Outcome(True, True)
TRUE, FALSE = Outcome(True, False), Outcome(False, True)

NUMBER: Final = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""Numbers that Java, Python and Spark read alike; Java reads others too."""
NUMBER_BYTES_MAX = 40
"""Longest number that is examined; longer ones may be anything."""
FLOAT_ERROR = 1e-6
"""Relative error of a number in single precision."""
DAYS_UNCERTAIN = timedelta(days=2)
"""Most that time zones and their changes can shift a time without a zone."""
_FLOAT_TINY, _FLOAT_HUGE, _FLOAT_WHOLE = 1e-37, 1e38, 2**24
_INTEGER = re.compile(rb"[+-]?0*([0-9]{1,19})")
_EXPONENT_MAX = 100
_EXACT = Context(prec=2 * NUMBER_BYTES_MAX + 2 * _EXPONENT_MAX)
_NUMBER_LIKE = re.compile(r"\s*[+-]?(?:0[xX].*|[0-9.]+(?:[eE][+-]?[0-9]+)?[dDfFlL]?|nan|inf\w*)\s*", re.IGNORECASE)
_DAY_LIKE = re.compile(r"\s*[+-]?[0-9]+-[0-9].*|.*[0-9]:[0-9].*")


def possible_outcomes(predicate: Predicate, values: Mapping[str, Value], types: Types) -> Outcome:
    """Return the possible outcomes of a predicate for these values; None is null."""
    match predicate:
        case Comparison(column=column, operator=operator, literal=literal):
            value = values[column]
            return NULL if value is None else compare_value(value, types.get(column), operator, literal)
        case IsNull(column=column):
            value = values[column]
            return TRUE if value is None else is_null(value, types.get(column))
        case Not(term=term):
            outcome = possible_outcomes(term, values, types)
            return Outcome(outcome.false, outcome.true)
        case And(terms=terms):
            all_ = [possible_outcomes(term, values, types) for term in terms]
            return Outcome(all(outcome.true for outcome in all_), any(outcome.false for outcome in all_))
        case Or(terms=terms):
            all_ = [possible_outcomes(term, values, types) for term in terms]
            return Outcome(any(outcome.true for outcome in all_), all(outcome.false for outcome in all_))


def is_null(value: bytes, type_: ColumnType | None) -> Outcome:
    """Return whether a value that is not null as a text is null as a value of the type."""
    if type_ is None:
        return ANY
    if type_.kind == "string":
        return FALSE
    if type_.kind in ("float", "double"):
        return FALSE if number_of(value) is not None else ANY
    if type_.kind == "timestamp":
        return FALSE if _day_of_time(value) else ANY
    read = _read(value, type_)
    return ANY if isinstance(read, Uncertain) else TRUE if read is None else FALSE


def compare_value(value: bytes, type_: ColumnType | None, operator: Operator, literal: Decimal | str) -> Outcome:
    """Return the possible outcomes of comparing a value that is not null as a text."""
    if type_ is None:
        return _in_any_type(value, operator, literal)
    match type_.kind, literal:
        case "string", str():
            return _as_text(value, operator, literal)
        case "timestamp", str():
            return _as_time(value, operator, literal)
        case "string" | "double", Decimal():
            number = number_of(value)
            return ANY if number is None else _outcome_of_order(_order(number, float(literal)), operator)
        case "float", Decimal():
            return _approximate_outcome(value, operator, float(literal))
    return _exactly(value, type_, operator, literal)


def _exactly(value: bytes, type_: ColumnType, operator: Operator, literal: Decimal | str) -> Outcome:
    read, meant = _read(value, type_), _typed_literal(literal, type_)
    if isinstance(read, Uncertain) or meant is None:
        return ANY
    return NULL if read is None else _outcome_of_order(_order(read, meant), operator)


class Uncertain:
    """The value that Spark reads is uncertain."""


_UNCERTAIN = Uncertain()
_Read = Decimal | bool | date | None | Uncertain


def _read(value: bytes, type_: ColumnType) -> _Read:
    if type_.is_integer:
        return _integer(value, type_)
    match type_.kind:
        case "decimal":
            return _decimal(value, type_)
        case "boolean":
            known = {b"true": True, b"false": False}.get(value.lower())
            return known if known is not None or value.isascii() else _UNCERTAIN
        case "date":
            return date_of(_ascii(value)) or _UNCERTAIN
        case _:
            return _UNCERTAIN


def _integer(value: bytes, type_: ColumnType) -> _Read:
    """Return the whole number; Java accepts the digits of other scripts, too."""
    found = _INTEGER.fullmatch(value)
    if found is None:
        return None if value.isascii() else _UNCERTAIN
    number, (least, most) = int(found[1]) * (-1 if value[:1] == b"-" else 1), type_.bounds
    return Decimal(number) if least <= number <= most else None


def _decimal(value: bytes, type_: ColumnType) -> _Read:
    if len(value) > NUMBER_BYTES_MAX or not NUMBER.fullmatch(value):
        return _UNCERTAIN
    number = Decimal(value.decode())
    if number and number.adjusted() > _EXPONENT_MAX:
        return _UNCERTAIN
    rounded = number.quantize(Decimal(1).scaleb(-type_.scale), ROUND_HALF_UP, _EXACT)
    return rounded if not rounded or rounded.adjusted() < type_.precision - type_.scale else None


def _typed_literal(literal: Decimal | str, type_: ColumnType) -> Decimal | bool | date | None:
    """Return the literal as a value of the type; None if Spark might compare differently."""
    if isinstance(literal, Decimal):
        if type_.is_integer:
            least, most = ColumnType("long").bounds
            return literal if least <= literal <= most else None
        return literal if type_.kind == "decimal" else None
    if type_.kind == "boolean":
        return {"true": True, "false": False}.get(literal.lower())
    return date_of(literal) if type_.kind == "date" else None


def _as_text(value: bytes, operator: Operator, literal: str) -> Outcome:
    try:
        value.decode()
    except UnicodeDecodeError:  # Spark replaces it with another character
        return ANY
    return _outcome_of_order(_order(value, literal.encode()), operator)


def _approximate_outcome(value: bytes, operator: Operator, literal: float) -> Outcome:
    """Return the possible outcomes for a number that is read with less precision."""
    number = number_of(value)
    if number is None or abs(number) > _FLOAT_HUGE or abs(literal) > _FLOAT_HUGE:
        return ANY
    if abs(number - literal) <= max(FLOAT_ERROR * abs(literal), _FLOAT_TINY) and number != literal:
        return ANY
    if number == literal and not (number.is_integer() and abs(number) <= _FLOAT_WHOLE):
        return ANY
    return _outcome_of_order(_order(number, literal), operator)


def _as_time(value: bytes, operator: Operator, literal: str) -> Outcome:
    day, other = _day_of_time(value), day_of_time(literal)
    if day is None or other is None or abs(day - other) <= DAYS_UNCERTAIN:
        return ANY
    return _outcome_of_order(_order(day, other), operator)


def _in_any_type(value: bytes, operator: Operator, literal: Decimal | str) -> Outcome:
    if isinstance(literal, Decimal):
        return _outcome_as_number(value, operator, float(literal))
    as_text = _as_text(value, operator, literal)
    if may_be_number(literal):
        number = number_of(literal.encode())
        return ANY if number is None else as_text | _outcome_as_number(value, operator, number)
    if may_be_day(literal):
        if value == literal.encode() and day_of_time(literal):
            return as_text
        return as_text | _as_time(value, operator, literal)
    if literal.lower() in ("true", "false"):
        return as_text | compare_value(value, ColumnType("boolean"), operator, literal)
    return as_text


def is_word(literal: str) -> bool:
    """Return whether every reader compares a literal as a text."""
    return not may_be_number(literal) and not may_be_day(literal) and literal.lower() not in ("true", "false")


def may_be_number(literal: str) -> bool:
    """Return whether a text may be compared as a number."""
    return _NUMBER_LIKE.fullmatch(literal) is not None


def may_be_day(literal: str) -> bool:
    """Return whether a text may be compared as a day or a time."""
    return _DAY_LIKE.fullmatch(literal) is not None


def _outcome_as_number(value: bytes, operator: Operator, literal: float) -> Outcome:
    """Compare exactly, in single precision, or without the decimals, as Spark compares texts with whole numbers."""
    number = number_of(value)
    if number is None or abs(number) > _FLOAT_HUGE:
        return ANY
    whole = _outcome_of_order(_order(float(int(number)), literal), operator)
    return _approximate_outcome(value, operator, literal) | _outcome_of_order(_order(number, literal), operator) | whole


def number_of(value: bytes) -> float | None:
    """Return the number of a text; None if it is not a number, or its reading is uncertain."""
    return float(value) if len(value) <= NUMBER_BYTES_MAX and NUMBER.fullmatch(value) else None


def _day_of_time(value: bytes) -> date | None:
    return day_of_time(_ascii(value))


def _ascii(value: bytes) -> str:
    return value.decode("ascii", "replace") if len(value) <= NUMBER_BYTES_MAX else ""


def _order(left: object, right: object) -> int:
    return (left > right) - (left < right)  # type: ignore[operator,no-any-return]  # both of one type


def _outcome_of_order(order: int, operator: Operator) -> Outcome:
    holds = {"=": order == 0, "!=": order != 0, "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}
    return TRUE if holds[operator] else FALSE
