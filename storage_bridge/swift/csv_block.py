"""Many CSV lines at once with numpy: which rows are wanted, and the wanted columns of those.

Lines that are not regular (see `csv_layout`) are left to `csv_line`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from storage_bridge.swift.csv_layout import Lines, laid_out
from storage_bridge.swift.csv_line import holds, raw_fields, text_of
from storage_bridge.swift.csv_numbers import numbers_of
from storage_bridge.swift.csv_quotes import Bytes, Mask, Positions
from storage_bridge.swift.selection import Selection
from zoe_lib.predicate import And, Comparison, IsNull, Not, Or, Predicate, columns

_NEWLINE = 10


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
        self._asked = max((*self._looked_at, *(() if self._whole else self._wanted)), default=-1) + 1

    def select(self, data: bytes) -> bytes:
        """The wanted part of these lines, each with a line feed at its end. MalformedRecordError."""
        if self._literal is not None:
            data = lines_with(data, self._literal)
        if not data:
            return b""
        lines, irregular = laid_out(data, len(self._names), self._csv, self._asked)
        kept = lines.only(self._rows(lines)) if self._predicate is not None else lines
        if not irregular:
            return self._project(kept)
        others = {start: self._by_hand(data[start:end]) for start, end in irregular}
        return self._in_order(kept, {start: text for start, text in others.items() if text is not None})

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
        column = self._names.index(test.column)
        first, last = lines.value(column)
        if isinstance(test.literal, str):
            literal = test.literal.encode()
            unknown = np.equal(*lines.field(column))  # one of quotes alone is an empty text, which is known
            if test.operator in ("=", "!="):
                same = _equal(lines.values, first, last, literal)
                return (same if test.operator == "=" else ~same) & ~unknown, unknown
            order = _text_order(lines.values, first, last, literal)
        else:
            numbers = numbers_of(lines.values, first, last)
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
