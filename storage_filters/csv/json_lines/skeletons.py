"""Check lines of JSON, and find the values of their fields, many at once.

The skeleton of a line is what is left without the contents of texts that are values and signs of numbers, with a zero
for each run of digits: `{"id":42,"at":"Nice"}` has `{"id":0,"at":""}`. Lines of one program have few skeletons, so
that each is parsed once. A line is regular if its skeleton and what the skeleton leaves out are strict JSON (RFC 8259);
nothing is known of the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from storage_filters.csv.quotes import Bytes, Mask, Positions

LINE_BYTES_MAX = 2**20
"""Longer lines are not regular: readers have limits, too."""
_DIGITS_MAX = 300
_DEPTH_MAX = 50
_SKELETONS_MAX = 10_000
_QUOTE, _ESCAPE, _COLON, _MINUS, _FEED, _ZERO, _POINT, _BLANK = b'"\\:-\n0. '
_BEFORE_NUMBER = np.isin(np.arange(256), list(b":,[ "))
_ESCAPED = np.isin(np.arange(256), list(b'"\\/bfnrtu'))
_HEX = np.isin(np.arange(256), list(b"0123456789abcdefABCDEF"))
_IN_KEY, _IN_VALUE = 1, 2
_TOKEN = re.compile(rb'"[^"]*"|[{}\[\]:,]|[^"{}\[\]:, ]+')
_Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Values:
    """Lines [starts, ends) of `buffer`, which are regular or not, and where the value of each field begins and ends in
    regular ones (lines x fields; both 0 without the field). escapes: the positions of backslashes.
    """

    buffer: Bytes
    starts: Positions
    ends: Positions
    regular: Mask
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    escapes: Positions


class Skeletons:
    """Finds the values of some fields; remembers skeletons."""

    def __init__(self, fields: Sequence[str]) -> None:
        self._fields = tuple(fields)
        self._known: dict[bytes, _Spans | None] = {}

    def values(self, data: bytes) -> Values:
        """Return the values in these lines, of which the last one ends with a line feed, too."""
        buffer = np.frombuffer(data, dtype=np.uint8)
        ends = np.flatnonzero(buffer == _FEED)
        starts = np.concatenate(([0], ends[:-1] + 1))
        escapes = np.flatnonzero(buffer == _ESCAPE)
        level, irregular = _levels(buffer, starts, ends, escapes)
        places, text, odd_numbers = _kept(buffer, level)
        irregular = np.concatenate((irregular, odd_numbers, _odd_bytes(data, buffer, starts, ends)))
        regular = ends - starts <= LINE_BYTES_MAX
        regular[np.searchsorted(ends, irregular)] = False
        first, last = self._find(text.tobytes(), places, regular)
        return Values(buffer, starts, ends, regular, first, last, escapes)

    def _find(self, skeleton: bytes, places: Positions, regular: Mask) -> tuple[Positions, Positions]:
        """Return begin and end of each value; lines with other skeletons become irregular."""
        texts = skeleton.split(b"\n")[:-1]
        at = np.cumsum([0, *(len(text) + 1 for text in texts[:-1])]) if texts else np.zeros(0, dtype=np.int64)
        first = np.zeros((len(texts), len(self._fields)), dtype=np.int64)
        last = np.zeros_like(first)
        numbers: dict[bytes, int] = {}
        kinds = np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64)
        order = np.argsort(kinds, kind="stable")
        bounds = np.searchsorted(kinds[order], np.arange(len(numbers) + 1))
        for number, text in enumerate(numbers):
            rows = order[bounds[number] : bounds[number + 1]]
            spans = self._spans(text)
            if spans is None:
                regular[rows] = False
                continue
            for field, (begin, end) in enumerate(spans):
                if end:
                    first[rows, field] = places[at[rows] + begin - 1] + 1
                    last[rows, field] = places[at[rows] + end]
        return first, last

    def _spans(self, text: bytes) -> _Spans | None:
        if text not in self._known:
            if len(self._known) >= _SKELETONS_MAX:
                self._known.clear()
            self._known[text] = spans_of(text, self._fields)
        return self._known[text]


def spans_of(skeleton: bytes, fields: Sequence[str]) -> _Spans | None:
    """Return begin and end of the value of each field of an object, (0, 0) without one; None for anything but an object
    in strict JSON with each of these fields at most once.
    """
    if skeleton[:1] != b"{" or b"\\" in skeleton:
        return None
    found: dict[str, tuple[int, int]] = {}
    depth, name, previous, begin, end = 0, b"", b"", 0, 0
    tokens = list(_TOKEN.finditer(skeleton))
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        sign = token[0]
        if depth == 1 and sign in b",}" and name:
            key = name[1:-1].decode(errors="replace")
            if key in found and key in fields:
                return None
            found[key], name = (begin, end), b""
        depth += (sign in (b"{", b"[")) - (sign in (b"}", b"]"))
        if depth > _DEPTH_MAX:
            return None
        if sign == b":" and token.start() != end:
            return None  # a name before blanks, which is left out
        if depth == 1 and sign == b":" and not name:
            name = previous
            begin = following.start() if following is not None else 0
        previous, end = sign, token.end()
    try:
        json.loads(skeleton.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return tuple(found.get(field, (0, 0)) for field in fields)


def _refuse(text: str) -> None:
    raise ValueError(text)


def _levels(
    buffer: Bytes, starts: Positions, ends: Positions, escapes: Positions
) -> tuple[NDArray[np.int8], Positions]:
    """Return for each byte whether it is within the name of a field, or within another text, and places in lines with
    an odd number of quotes or wrong escapes.
    """
    quotes = np.flatnonzero(buffer == _QUOTE)
    effective = _effective(escapes)
    wrong = _wrong_escapes(buffer, effective)
    if len(effective):
        quotes = quotes[~np.isin(quotes, effective + 1, assume_unique=True)]
    line = np.searchsorted(ends, quotes)
    before = np.searchsorted(quotes, np.append(starts, len(buffer)))
    odd = (before[1:] - before[:-1]) % 2 == 1
    if odd.any():
        wrong = np.concatenate((wrong, starts[odd]))
        quotes = quotes[~odd[line]]
    opens, closes = quotes[::2], quotes[1::2]
    level = np.zeros(len(buffer) + 1, dtype=np.int8)
    kind = np.where(buffer[closes + 1] == _COLON, _IN_KEY, _IN_VALUE).astype(np.int8)
    level[opens + 1] = kind
    level[closes] -= kind
    np.cumsum(level, out=level)
    return level[:-1], wrong


def _effective(escapes: Positions) -> Positions:
    """Return the escapes that are not escaped themselves."""
    if not len(escapes):
        return escapes
    runs = np.flatnonzero(np.diff(escapes, prepend=-2) != 1)
    nth = np.arange(len(escapes)) - np.repeat(runs, np.diff(np.append(runs, len(escapes))))
    effective: Positions = escapes[nth % 2 == 0]
    return effective


def _wrong_escapes(buffer: Bytes, effective: Positions) -> Positions:
    signs = buffer[effective + 1]  # behind the last line is a line feed
    wrong = ~_ESCAPED[signs]
    codes = np.flatnonzero(signs == ord("u"))
    for offset in range(2, 6):
        wrong[codes] |= ~_HEX[buffer[np.minimum(effective[codes] + offset, len(buffer) - 1)]]
    return effective[wrong]


def _kept(buffer: Bytes, level: NDArray[np.int8]) -> tuple[Positions, Bytes, Positions]:
    """Return the places of the bytes of skeletons, these bytes, and places of zeros before other digits, and of long
    numbers.
    """
    digit = buffer - np.uint8(_ZERO) < 10
    digit &= level == 0
    dropped = np.zeros(len(buffer), dtype=bool)
    np.logical_and(digit[1:], digit[:-1], out=dropped[1:])
    # Behind each of these bytes is another one, at least the line feed.
    zeros = np.flatnonzero(buffer == _ZERO)
    leading = zeros[digit[zeros] & ~dropped[zeros] & digit[zeros + 1]]
    leading = leading[buffer[np.maximum(leading - 1, 0)] != _POINT]
    minus = np.flatnonzero(buffer == _MINUS)
    minus = minus[(level[minus] == 0) & digit[minus + 1]]
    dropped[minus[_BEFORE_NUMBER[buffer[np.maximum(minus - 1, 0)]]]] = True
    dropped |= level == _IN_VALUE
    places = np.flatnonzero(~dropped)
    long = places[:-1][(np.diff(places) > _DIGITS_MAX) & digit[places[:-1]]]
    text = buffer[places]
    text[digit[places]] = _ZERO
    return places, text, np.concatenate((leading, long))


def _odd_bytes(data: bytes, buffer: Bytes, starts: Positions, ends: Positions) -> Positions:
    """Return places in lines with control characters, or that are not UTF-8."""
    controls = np.flatnonzero((buffer < _BLANK) & (buffer != _FEED))
    try:
        if not data.isascii():
            data.decode()
    except UnicodeDecodeError:
        bounds = zip(starts.tolist(), ends.tolist(), strict=True)
        others = [start for start, end in bounds if not _is_utf8(data[start:end])]
        return np.concatenate((controls, np.array(others, dtype=np.int64)))
    return controls


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
