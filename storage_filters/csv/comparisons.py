"""Compare many fields at once with numpy: each result agrees with `readings.compared` of the single field.

Common notations are compared many at once; fields in other notations are compared one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from storage_filters.csv.numbers import EXACT_DIGITS_MAX, decimals_of, integers_of, numbers_of
from storage_filters.csv.quotes import Bytes, Mask, Positions
from storage_filters.csv.readings import (
    DAYS_UNCERTAIN,
    FLOAT_ERROR,
    compare_value,
    is_null,
    is_word,
    may_be_day,
    may_be_number,
)
from zoe_lib.pushdown.column_types import ColumnType, day_of_time
from zoe_lib.pushdown.predicate import And, Comparison, IsNull, Not, Operator, Or, Predicate

Orders: TypeAlias = NDArray[np.int8]
# Single precision as in `readings`, and a margin, so that a decision here is also the decision there.
_NEAR = 2 * FLOAT_ERROR
_SURE_MAX = 1e37
_DAY_SHAPE = b"dddd-dd-dd"
_TIME_SHAPE = b"dddd-dd-dd dd:dd:dd"
_DIGIT = ord("d")
_DAYS_OF_MONTHS = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0])
_FEBRUARY = 2


@dataclass(frozen=True, slots=True)
class Fields:
    """The values [first, last) of `buffer`; utf8: whether all bytes are valid UTF-8."""

    buffer: Bytes
    first: Positions
    last: Positions
    utf8: bool

    def value(self, row: int) -> bytes:
        """Return a value."""
        return bytes(self.buffer[self.first[row] : self.last[row]].tobytes())

    def only(self, rows: Positions) -> Fields:
        """Return some of the fields."""
        return Fields(self.buffer, self.first[rows], self.last[rows], self.utf8)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """For each row, whether a condition may be true and whether it may be false."""

    true: Mask
    false: Mask

    def negated(self) -> Outcomes:
        """Return the outcomes of the opposite condition."""
        return Outcomes(self.false, self.true)


def evaluate(predicate: Predicate, test: Callable[[Comparison | IsNull], Outcomes]) -> Outcomes:
    """Return the outcomes of a predicate, from those of its tests."""
    match predicate:
        case Comparison() | IsNull():
            return test(predicate)
        case Not(term=term):
            return evaluate(term, test).negated()
        case And(terms=terms):
            parts = [evaluate(term, test) for term in terms]
            true = np.logical_and.reduce([part.true for part in parts])
            return Outcomes(true, np.logical_or.reduce([part.false for part in parts]))
        case Or(terms=terms):
            parts = [evaluate(term, test) for term in terms]
            false = np.logical_and.reduce([part.false for part in parts])
            return Outcomes(np.logical_or.reduce([part.true for part in parts]), false)


def outcomes(fields: Fields, type_: ColumnType | None, test: Comparison) -> Outcomes:
    """Return the outcomes of a comparison; no value is null as a text."""
    true, false, known = _at_once(fields, type_, test)
    for row in np.flatnonzero(~known).tolist():
        one = compare_value(fields.value(row), type_, test.operator, test.literal)
        true[row], false[row] = one.true, one.false
    return Outcomes(true, false)


def nulls(fields: Fields, type_: ColumnType | None) -> Outcomes:
    """Return whether values that are not null as texts are null as values of the type."""
    rows = len(fields.first)
    if type_ is None or type_.kind == "string":
        all_, none = np.ones(rows, dtype=bool), np.zeros(rows, dtype=bool)
        return Outcomes(all_ if type_ is None else none, all_)
    true, false, known = _nulls_at_once(fields, type_)
    for row in np.flatnonzero(~known).tolist():
        one = is_null(fields.value(row), type_)
        true[row], false[row] = one.true, one.false
    return Outcomes(true, false)


_Known: TypeAlias = tuple[Mask, Mask, Mask]
"""Whether a condition may be true, may be false, and whether both are known."""


def _nulls_at_once(fields: Fields, type_: ColumnType) -> _Known:
    if type_.is_integer:
        numbers, known = integers_of(fields.buffer, fields.first, fields.last)
        least, most = type_.bounds
        null = (numbers < least) | (numbers > most)
        return null, ~null, known
    if type_.kind in ("float", "double"):
        known = ~np.isnan(numbers_of(fields.buffer, fields.first, fields.last))
        return ~known, known.copy(), known
    if type_.kind == "decimal":
        return _of_values(_decimals(fields, type_)[1])
    if type_.kind == "date":
        return _of_values(_valid_days(fields, _DAY_SHAPE)[1])
    if type_.kind == "boolean":
        return _of_values(_truths(fields))
    return _none_known(len(fields.first))


def _of_values(known: Mask) -> _Known:
    """Return that these rows have values, which are not null."""
    return np.zeros(len(known), dtype=bool), known.copy(), known


def _at_once(fields: Fields, type_: ColumnType | None, test: Comparison) -> _Known:
    literal, kind = test.literal, type_.kind if type_ is not None else "any"
    if isinstance(literal, Decimal):
        if type_ is not None and type_.is_integer:
            return _integers(fields, type_, test.operator, literal)
        if type_ is not None and kind == "decimal" and len(literal.as_tuple().digits) <= EXACT_DIGITS_MAX:
            numbers, known = _decimals(fields, type_)
            return (*_split(_order_of(numbers, float(literal)), test.operator), known)
        if kind in ("double", "string", "float", "decimal", "any"):
            return _numbers(fields, type_, test.operator, float(literal))
    elif kind in ("date", "timestamp") or (kind == "any" and may_be_day(literal) and not may_be_number(literal)):
        return _days(fields, test.operator, literal, kind == "date")
    elif kind == "string" or (kind == "any" and is_word(literal)):
        order = text_order(fields.buffer, fields.first, fields.last, literal.encode(), test.operator)
        known = np.ones(len(order), dtype=bool) if fields.utf8 else _plain_ascii(fields)
        return (*_split(order, test.operator), known)
    return _none_known(len(fields.first))


def _none_known(rows: int) -> _Known:
    nothing = np.zeros(rows, dtype=bool)
    return nothing, nothing.copy(), nothing.copy()


def _integers(fields: Fields, type_: ColumnType, operator: Operator, literal: Decimal) -> _Known:
    numbers, known = integers_of(fields.buffer, fields.first, fields.last)
    least, most = type_.bounds
    if abs(literal) >= 1 << 62:  # too large for an exact comparison here
        return _none_known(len(numbers))
    order = (numbers > math.floor(literal)).astype(np.int8) - (numbers < math.ceil(literal))
    inside = (numbers >= least) & (numbers <= most)
    true, false = _split(order, operator)
    return true & inside, false & inside, known


def _numbers(fields: Fields, type_: ColumnType | None, operator: Operator, literal: float) -> _Known:
    numbers = numbers_of(fields.buffer, fields.first, fields.last)
    known = ~np.isnan(numbers)
    numbers = np.where(known, numbers, 0.0)
    true, false = _split(_order_of(numbers, literal), operator)
    if type_ is not None and type_.kind in ("double", "string"):
        return true, false, known
    # Numbers that differ by more than a whole number and single precision differ in every way of reading.
    margin = 1.0 + _NEAR * abs(literal)
    known &= (np.abs(numbers - literal) > margin) & (np.abs(numbers) < _SURE_MAX)
    if type_ is not None and type_.kind == "decimal":
        known &= np.abs(numbers) < 10.0 ** (type_.precision - type_.scale) - 1
    return true, false, known & (abs(literal) < _SURE_MAX)


def _decimals(fields: Fields, type_: ColumnType) -> tuple[NDArray[np.float64], Mask]:
    """Return the values, and of which they are exact and within the type's range."""
    numbers, known = decimals_of(fields.buffer, fields.first, fields.last, type_.scale)
    numbers = np.where(known, numbers, 0.0)
    return numbers, known & (np.abs(numbers) < 10.0 ** (type_.precision - type_.scale))


def _order_of(numbers: NDArray[np.float64], literal: float) -> Orders:
    order: Orders = (numbers > literal).astype(np.int8) - (numbers < literal)
    return order


def _days(fields: Fields, operator: Operator, literal: str, exact: bool) -> _Known:
    """Compare days in full notation, and times at least two days before or after the literal."""
    day, rows = day_of_time(literal), len(fields.first)
    if day is None:
        return _none_known(rows)
    numbers, known = _valid_days(fields, _DAY_SHAPE, *([] if exact else [_TIME_SHAPE]))
    low, high = (day, day) if exact else _around(day)
    order = (numbers > _number_of(high)).astype(np.int8) - (numbers < _number_of(low))
    if not exact:
        known &= order != 0
        known &= ~_of_shape(fields, _TIME_SHAPE) | _times(fields)
    return (*_split(order, operator), known)


def _valid_days(fields: Fields, *shapes: bytes) -> tuple[NDArray[np.int64], Mask]:
    """Return days as numbers such as 20150131, and which fields of one of the shapes begin with a day that exists."""
    shaped = np.logical_or.reduce([_of_shape(fields, shape) for shape in shapes])
    numbers = _day_numbers(fields, shaped)
    of_month, month, year = numbers % 100, numbers // 100 % 100, numbers // 10_000
    last = _DAYS_OF_MONTHS[np.minimum(month, len(_DAYS_OF_MONTHS) - 1)]
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    last = np.where((month == _FEBRUARY) & leap, last + 1, last)
    return numbers, shaped & (year >= 1) & (of_month >= 1) & (of_month <= last)


def _around(day: date) -> tuple[date, date]:
    try:
        return day - DAYS_UNCERTAIN, day + DAYS_UNCERTAIN
    except OverflowError:
        return date.min, date.max


def _number_of(day: date) -> int:
    return day.year * 10_000 + day.month * 100 + day.day


def _of_shape(fields: Fields, shape: bytes) -> Mask:
    found: Mask = fields.last - fields.first == len(shape)
    for offset, sign in enumerate(shape):
        rows = np.flatnonzero(found)
        text = fields.buffer[fields.first[rows] + offset]
        fits = (text - np.uint8(ord("0")) < 10) if sign == _DIGIT else text == sign
        found[rows[~fits]] = False
    return found


def _day_numbers(fields: Fields, rows: Mask) -> NDArray[np.int64]:
    """Return year, month and day of a day as one number, such as 20150131; 0 for other rows."""
    numbers = np.zeros(len(fields.first), dtype=np.int64)
    first = fields.first[rows]
    found = np.zeros(len(first), dtype=np.int64)
    for offset, sign in enumerate(_DAY_SHAPE):
        if sign == _DIGIT:
            found = found * 10 + (fields.buffer[first + offset] - np.uint8(ord("0")))
    numbers[rows] = found
    return numbers


def _times(fields: Fields) -> Mask:
    """Return which rows in the format of times have valid hours, minutes and seconds."""
    right = np.zeros(len(fields.first), dtype=bool)
    rows = np.flatnonzero(_of_shape(fields, _TIME_SHAPE))
    first = fields.first[rows]

    def two(offset: int) -> NDArray[np.int64]:
        tens, ones = (fields.buffer[first + offset + i].astype(np.int64) - ord("0") for i in (0, 1))
        return tens * 10 + ones

    right[rows] = (two(11) < 24) & (two(14) < 60) & (two(17) < 60)
    return right


def _plain_ascii(fields: Fields) -> Mask:
    others = np.concatenate(([0], np.cumsum(fields.buffer > 127)))
    plain: Mask = others[fields.last] == others[fields.first]
    return plain


def text_order(buffer: Bytes, first: Positions, last: Positions, literal: bytes, operator: Operator) -> Orders:
    """Return -1, 0, 1 for texts before, equal to and after the literal, byte by byte; for `=` and `!=` only whether
    equal.
    """
    if operator in ("=", "!="):
        return (~equal(buffer, first, last, literal)).astype(np.int8)
    order = np.zeros(len(first), dtype=np.int8)
    rows = np.arange(len(first))
    for offset, byte in enumerate(literal):
        ended = first[rows] + offset >= last[rows]
        order[rows[ended]] = -1
        rows = rows[~ended]
        bytes_there = buffer[first[rows] + offset]
        order[rows[bytes_there < byte]] = -1
        order[rows[bytes_there > byte]] = 1
        rows = rows[bytes_there == byte]
        if not len(rows):
            return order
    order[rows[last[rows] - first[rows] > len(literal)]] = 1
    return order


def equal(buffer: Bytes, first: Positions, last: Positions, literal: bytes) -> Mask:
    """Return which texts equal the literal."""
    rows = np.flatnonzero(last - first == len(literal))
    for offset, byte in enumerate(literal):
        if not len(rows):
            break
        rows = rows[buffer[first[rows] + offset] == byte]
    same = np.zeros(len(first), dtype=bool)
    same[rows] = True
    return same


def _truths(fields: Fields) -> Mask:
    """Return which fields are `true` or `false` in small letters."""
    return equal(fields.buffer, fields.first, fields.last, b"true") | equal(
        fields.buffer, fields.first, fields.last, b"false"
    )


def _split(order: Orders, operator: Operator) -> tuple[Mask, Mask]:
    true = _OF_ORDER[operator](order)
    return true, ~true


_OF_ORDER: dict[Operator, Callable[[Orders], Mask]] = {
    "=": lambda order: order == 0,
    "!=": lambda order: order != 0,
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}
