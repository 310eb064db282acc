"""Many CSV lines at once with numpy: where fields lie, which rows are wanted, and the wanted columns of those.

Lines with quotes, a zero byte or another number of fields than there are columns are left to `csv_line`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from storage_bridge.predicate import And, Comparison, IsNull, Not, Or, Predicate, columns
from storage_bridge.swift.csv_line import holds, number_of, raw_fields, text_of
from storage_bridge.swift.selection import Selection

Positions = NDArray[np.int64]
Mask = NDArray[np.bool_]
Bytes = NDArray[np.uint8]

_NEWLINE, _RETURN, _ZERO = 10, 13, 0
_OF_NUMBERS = np.zeros(256, dtype=bool)
_OF_NUMBERS[list(b"0123456789+-.eE")] = True
# Longer fields are no numbers that a column of numbers holds; they are looked at one by one.
_NUMBER_BYTES_MAX = 40


@dataclass(frozen=True, slots=True)
class Lines:
    """Where lines lie in `data`: [starts, ends) without line ends; `commas`, for regular lines, all delimiters."""

    data: bytes
    buffer: Bytes
    starts: Positions
    ends: Positions
    commas: NDArray[np.int64]

    def field(self, column: int) -> tuple[Positions, Positions]:
        """First byte and end of this column's field in each line."""
        first = self.starts if column == 0 else self.commas[:, column - 1] + 1
        last = self.ends if column == self.commas.shape[1] else self.commas[:, column]
        return first, last

    def only(self, rows: Mask) -> Lines:
        """Some of them."""
        if rows.all():
            return self
        return Lines(self.data, self.buffer, self.starts[rows], self.ends[rows], self.commas[rows])


class Selector:
    """Selects and projects blocks of whole lines."""

    def __init__(self, selection: Selection) -> None:
        self._csv = selection.csv
        self._names = selection.names
        self._wanted = selection.wanted
        self._predicate = selection.predicate
        self._looked_at = sorted(selection.names.index(name) for name in _columns(self._predicate))
        self._literal = _rare_literal(self._predicate, selection)
        self._whole = self._wanted == tuple(range(len(selection.names)))

    def select(self, data: bytes) -> bytes:
        """The wanted part of these lines, each with a line feed at its end. MalformedRecordError."""
        if self._literal is not None:
            data = lines_with(data, self._literal)
        if not data:
            return b""
        buffer = np.frombuffer(data, dtype=np.uint8)
        starts, ends = _lines(buffer)
        regular, commas = self._regular(buffer, starts, ends)
        lines = Lines(data, buffer, starts[regular], ends[regular], commas)
        kept = lines.only(self._rows(lines)) if self._predicate is not None else lines
        if regular.all():
            return self._project(kept)
        others = {int(starts[i]): self._by_hand(data[starts[i] : ends[i]]) for i in np.flatnonzero(~regular)}
        return self._in_order(kept, {start: text for start, text in others.items() if text is not None})

    def _regular(self, buffer: Bytes, starts: Positions, ends: Positions) -> tuple[Mask, NDArray[np.int64]]:
        """Which lines have one plain field for each column, and where their delimiters are."""
        between = len(self._names) - 1
        commas = np.flatnonzero(buffer == ord(self._csv.delimiter))
        first = np.searchsorted(commas, starts)
        regular = np.searchsorted(commas, ends) - first == between
        for special in (ord(self._csv.quote), _ZERO):
            found = np.flatnonzero(buffer == special)
            if len(found):
                regular[np.searchsorted(ends, found)] = False
        return regular, commas[first[regular][:, None] + np.arange(between)]

    def _rows(self, lines: Lines) -> Mask:
        assert self._predicate is not None
        true, _ = self._evaluate(self._predicate, lines)
        return true

    def _evaluate(self, predicate: Predicate, lines: Lines) -> tuple[Mask, Mask]:
        """For each line whether it is true, and whether it is unknown."""
        match predicate:
            case Comparison():
                return self._compare(predicate, lines)
            case IsNull(column=column):
                first, last = lines.field(self._names.index(column))
                return first == last, np.zeros(len(first), dtype=bool)
            case Not(term=term):
                true, unknown = self._evaluate(term, lines)
                return ~(true | unknown), unknown
            case And(terms=terms):
                parts = [self._evaluate(term, lines) for term in terms]
                true = np.logical_and.reduce([true for true, _ in parts])
                possible = np.logical_and.reduce([true | unknown for true, unknown in parts])
                return true, possible & ~true
            case Or(terms=terms):
                parts = [self._evaluate(term, lines) for term in terms]
                true = np.logical_or.reduce([true for true, _ in parts])
                return true, np.logical_or.reduce([unknown for _, unknown in parts]) & ~true

    def _compare(self, test: Comparison, lines: Lines) -> tuple[Mask, Mask]:
        first, last = lines.field(self._names.index(test.column))
        if isinstance(test.literal, str):
            literal = test.literal.encode()
            unknown = first == last
            if test.operator in ("=", "!="):
                same = _equal(lines.buffer, first, last, literal)
                return (same if test.operator == "=" else ~same) & ~unknown, unknown
            order = _text_order(lines.buffer, first, last, literal)
        else:
            numbers = _numbers(lines, first, last)
            unknown = np.isnan(numbers)
            order = np.sign(np.where(unknown, 0.0, numbers) - test.literal).astype(np.int8)
            # Two infinities have no difference, yet are equal.
            order = np.where(numbers == test.literal, 0, order)
        true: Mask = _OF_ORDER[test.operator](order) & ~unknown
        return true, unknown

    def _project(self, lines: Lines) -> bytes:
        if not len(lines.starts):
            return b""
        if self._whole:
            return _joined(lines.buffer, [(lines.starts, lines.ends)], b"\n")
        fields = [lines.field(column) for column in self._wanted]
        text = _joined(lines.buffer, fields, self._csv.delimiter.encode())
        if len(fields) > 1 or not (fields[0][0] == fields[0][1]).any():
            return text
        return b"\n".join(line or self._empty for line in text[:-1].split(b"\n")) + b"\n"

    def _in_order(self, kept: Lines, others: dict[int, bytes]) -> bytes:
        """The two kinds of lines in the order of the object."""
        texts = [text + b"\n" for text in self._project(kept)[:-1].split(b"\n")] if len(kept.starts) else []
        found = dict(zip(kept.starts.tolist(), texts, strict=True)) | others
        return b"".join(found[start] for start in sorted(found))

    def _by_hand(self, line: bytes) -> bytes | None:
        if not line:
            return None
        fields = raw_fields(line, self._csv)
        fields += [b""] * (len(self._names) - len(fields))
        if self._predicate is not None:
            values = {self._names[column]: text_of(fields[column], self._csv) for column in self._looked_at}
            if holds(self._predicate, values) is not True:
                return None
        if self._whole:
            return line + b"\n"
        wanted = [fields[column] for column in self._wanted]
        return (self._csv.delimiter.encode().join(wanted) or self._empty) + b"\n"

    @property
    def _empty(self) -> bytes:
        """An empty value that is alone on its line: readers skip empty lines, and would lose the row."""
        return self._csv.quote.encode() * 2


_OF_ORDER: dict[str, Callable[[NDArray[np.int8]], Mask]] = {
    "=": lambda order: order == 0,
    "!=": lambda order: order != 0,
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}


def lines_with(data: bytes, literal: bytes) -> bytes:
    """Those lines in which the literal occurs."""
    found, at = [], data.find(literal)
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at + len(literal)) + 1 or len(data)
        found.append(data[start:end])
        at = data.find(literal, end)
    return b"".join(found)


def _columns(predicate: Predicate | None) -> frozenset[str]:
    return columns(predicate) if predicate is not None else frozenset()


def _rare_literal(predicate: Predicate | None, selection: Selection) -> bytes | None:
    """The longest text that must be somewhere in a line for it to be wanted; as it is written there."""
    terms = predicate.terms if isinstance(predicate, And) else (predicate,)
    signs = selection.csv.quote + selection.csv.escape
    texts = [
        term.literal.encode()
        for term in terms
        if isinstance(term, Comparison) and term.operator == "=" and isinstance(term.literal, str)
        if term.literal and not set(term.literal) & {*signs, "\n"}
    ]
    return max(texts, key=len, default=None)


def _lines(buffer: Bytes) -> tuple[Positions, Positions]:
    """Starts and ends of lines that are not empty, without line feed and carriage return."""
    feeds = np.flatnonzero(buffer == _NEWLINE)
    ends = feeds if len(feeds) and feeds[-1] == len(buffer) - 1 else np.append(feeds, len(buffer))
    starts = np.concatenate(([0], ends[:-1] + 1))
    ends = ends - ((ends > starts) & (buffer[np.maximum(ends - 1, 0)] == _RETURN))
    there = ends > starts
    return starts[there], ends[there]


def _equal(buffer: Bytes, first: Positions, last: Positions, literal: bytes) -> Mask:
    rows = np.flatnonzero(last - first == len(literal))
    for offset, byte in enumerate(literal):
        if not len(rows):
            break
        rows = rows[buffer[first[rows] + offset] == byte]
    same = np.zeros(len(first), dtype=bool)
    same[rows] = True
    return same


def _text_order(buffer: Bytes, first: Positions, last: Positions, literal: bytes) -> NDArray[np.int8]:
    """-1, 0, 1 for fields before, equal to and after the literal, byte by byte."""
    order = np.zeros(len(first), dtype=np.int8)
    rows = np.arange(len(first))
    for offset, byte in enumerate(literal):
        ended = first[rows] + offset >= last[rows]
        order[rows[ended]] = -1
        rows = rows[~ended]
        theirs = buffer[first[rows] + offset]
        order[rows[theirs < byte]] = -1
        order[rows[theirs > byte]] = 1
        rows = rows[theirs == byte]
        if not len(rows):
            return order
    order[rows[last[rows] - first[rows] > len(literal)]] = 1
    return order


def _numbers(lines: Lines, first: Positions, last: Positions) -> NDArray[np.float64]:
    """Fields as numbers; not a number where they are none."""
    lengths = last - first
    numbers = np.full(len(first), np.nan)
    rows = np.flatnonzero((lengths > 0) & (lengths <= _NUMBER_BYTES_MAX))
    for row in np.flatnonzero(lengths > _NUMBER_BYTES_MAX):
        numbers[row] = _number(lines.data[first[row] : last[row]])
    if not len(rows):
        return numbers
    width = int(lengths[rows].max())
    offsets = np.arange(width)
    inside = offsets < lengths[rows][:, None]
    places = np.minimum(first[rows][:, None] + offsets, len(lines.buffer) - 1)
    matrix = np.where(inside, lines.buffer[places], np.uint8(0))
    clean = (_OF_NUMBERS[matrix] | ~inside).all(axis=1)
    rows, matrix = rows[clean], np.ascontiguousarray(matrix[clean])
    try:
        numbers[rows] = matrix.view(f"S{width}").ravel().astype(np.float64)
    except ValueError:  # something like 1-2 or e5 is among them
        numbers[rows] = [_number(lines.data[first[row] : last[row]]) for row in rows]
    return numbers


def _number(text: bytes) -> float:
    number = number_of(text)
    return np.nan if number is None else number


def _joined(buffer: Bytes, fields: list[tuple[Positions, Positions]], delimiter: bytes) -> bytes:
    """Copies the fields of each row, a delimiter between them and a line feed at the end."""
    first = np.stack([first for first, _ in fields], axis=1).ravel()
    lengths = np.stack([last - first for first, last in fields], axis=1).ravel() + 1
    behind = np.cumsum(lengths)
    places = np.arange(behind[-1]) + np.repeat(first - (behind - lengths), lengths)
    np.minimum(places, len(buffer) - 1, out=places)  # the place of the last separator may lie behind the data
    text = buffer[places]
    text[behind - 1] = delimiter[0]
    text[behind[len(fields) - 1 :: len(fields)] - 1] = _NEWLINE
    return bytes(text.tobytes())
