"""Read fields as numbers, many at once with numpy; each equals the result of `readings.number_of`.

Decimals of up to 15 digits are read digit by digit, for all fields in step: as a whole number, divided by the power of
ten that their point stands for. Both are exact in double precision, so the quotient is the nearest number to the
decimal (Clinger, "How to read floating point numbers accurately", PLDI 1990).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from storage_filters.csv.quotes import Bytes, Mask, Positions
from storage_filters.csv.readings import number_of

Numbers = NDArray[np.float64]

_POINT, _PLUS, _MINUS, _ZERO = b".+-0"
_EXACT_BYTES_MAX = EXACT_DIGITS_MAX = 15
_INTEGER_BYTES_MAX = 19  # 18 digits and a sign; with more, sums of 64 bits overflow
_POWERS = 10.0 ** np.arange(_EXACT_BYTES_MAX + 1)
_OF_NUMBERS = np.zeros(256, dtype=bool)
_OF_NUMBERS[list(b"0123456789+-.eE")] = True
# Longer fields are not numbers that a column of numbers holds; they are read one by one.
_NUMBER_BYTES_MAX = 40


def decimals_of(values: Bytes, first: Positions, last: Positions, scale: int) -> tuple[Numbers, Mask]:
    """Return the fields as numbers, and a mask of the decimals of at most `_EXACT_BYTES_MAX` bytes and `scale` digits
    behind the point. Of these and other decimals with as few digits, different ones are different numbers here.
    """
    lengths = last - first
    numbers, known = np.full(len(first), np.nan), np.zeros(len(first), dtype=bool)
    short = (lengths <= _EXACT_BYTES_MAX) & (lengths > 0)
    numbers[short], right, places = _decimals(values, first[short], lengths[short])
    known[short] = right & (places <= scale)
    return numbers, known


def numbers_of(values: Bytes, first: Positions, last: Positions) -> Numbers:
    """Return the fields [first, last) of `values` as numbers; NaN if they are none."""
    lengths = last - first
    numbers = np.full(len(first), np.nan)
    short = lengths <= _EXACT_BYTES_MAX
    if short.all():
        numbers, known, _ = _decimals(values, first, lengths)
    else:
        known = np.zeros(len(first), dtype=bool)
        numbers[short], known[short], _ = _decimals(values, first[short], lengths[short])
    rows = np.flatnonzero(~known & (lengths > 0))
    if len(rows):
        numbers[rows] = _numbers_one_by_one(values, first[rows], last[rows])
    return numbers


def integers_of(values: Bytes, first: Positions, last: Positions) -> tuple[NDArray[np.int64], Mask]:
    """Return the fields as whole numbers, and a mask of the whole numbers of at most 18 digits; 0 for all others."""
    lengths = last - first
    short = (lengths <= _INTEGER_BYTES_MAX) & (lengths > 0)
    starts, lengths = first[short], lengths[short]
    whole = np.zeros(len(starts), dtype=np.int64)
    right = np.ones(len(starts), dtype=bool)
    digits = np.zeros(len(starts), dtype=np.int64)
    for offset in range(int(lengths.max(initial=0))):
        text = values[np.minimum(starts + offset, len(values) - 1)]
        inside = offset < lengths
        digit = (text - np.uint8(_ZERO) < 10) & inside
        whole = np.where(digit, whole * 10 + (text - np.uint8(_ZERO)), whole)
        digits += digit
        right &= digit | ~inside | ((text == _PLUS) | (text == _MINUS) if offset == 0 else False)
    negative = values[starts] == _MINUS
    numbers, known = np.zeros(len(first), dtype=np.int64), np.zeros(len(first), dtype=bool)
    right &= (digits > 0) & (digits < _INTEGER_BYTES_MAX)
    numbers[short] = np.where(right, np.where(negative, -whole, whole), 0)
    known[short] = right
    return numbers, known


def _decimals(values: Bytes, first: Positions, lengths: Positions) -> tuple[Numbers, Mask, NDArray[np.int64]]:
    """Return fields of at most `_EXACT_BYTES_MAX` bytes, NaN for all but decimals; a mask of the decimals among them;
    and how many digits they have behind the point.
    """
    offsets = np.arange(lengths.max(initial=0))[:, None]
    inside = offsets < lengths
    text = values[np.minimum(first + offsets, len(values) - 1)]  # bytes x fields
    digits = text - np.uint8(_ZERO)
    is_digit = (digits < 10) & inside
    is_point = (text == _POINT) & inside
    pointed = is_point.any()
    others = inside & ~is_digit & ~is_point
    negative = np.zeros(len(first), dtype=bool)
    if others[:1].any():
        negative = others[0] & (text[0] == _MINUS)
        others[0] &= ~(negative | (text[0] == _PLUS))
    known = is_digit.any(axis=0) & ~others.any(axis=0)
    whole = np.zeros(len(first))
    for digit, are in zip(digits, is_digit, strict=True):
        whole = np.where(are, whole * 10 + digit, whole)
    places = np.zeros(len(first), dtype=np.int64)
    if pointed:
        known &= is_point.sum(axis=0) <= 1
        behind = np.logical_or.accumulate(is_point, axis=0)
        places = (behind & is_digit).sum(axis=0)
        whole /= _POWERS[places]
    if negative.any():
        whole[negative] *= -1
    whole[~known] = np.nan
    return whole, known, places


def _numbers_one_by_one(values: Bytes, first: Positions, last: Positions) -> Numbers:
    """Return fields that are not empty, in any notation."""
    lengths = last - first
    numbers = np.full(len(first), np.nan)
    for row in np.flatnonzero(lengths > _NUMBER_BYTES_MAX):
        numbers[row] = _number(values[first[row] : last[row]])
    rows = np.flatnonzero(lengths <= _NUMBER_BYTES_MAX)
    if not len(rows):
        return numbers
    width = int(lengths[rows].max())
    offsets = np.arange(width)
    inside = offsets < lengths[rows][:, None]
    places = np.minimum(first[rows][:, None] + offsets, len(values) - 1)
    matrix = np.where(inside, values[places], np.uint8(0))
    clean = (_OF_NUMBERS[matrix] | ~inside).all(axis=1)
    rows, matrix = rows[clean], np.ascontiguousarray(matrix[clean])
    try:
        numbers[rows] = matrix.view(f"S{width}").ravel().astype(np.float64)
    except ValueError:  # the block contains something like 1-2 or e5
        numbers[rows] = [_number(values[first[row] : last[row]]) for row in rows]
    return numbers


def _number(text: Bytes) -> float:
    number = number_of(text.tobytes())
    return np.nan if number is None else number
