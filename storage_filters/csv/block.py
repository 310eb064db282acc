"""Select from many CSV lines at once with numpy: which rows may be wanted, and their wanted columns.

Lines that are not regular (see `csv.layout`), and rows that a reader would skip as blank once they are cut, are read
and written one by one (`csv.parser`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from storage_filters.csv.comparisons import Fields, Outcomes, equal, evaluate, nulls, outcomes
from storage_filters.csv.layout import Lines, lay_out
from storage_filters.csv.parser import Value, line_with, values_of
from storage_filters.csv.quotes import Bytes, Mask, Positions, dependent_lines
from storage_filters.csv.readings import is_word, possible_outcomes
from storage_filters.csv.selection import Selection
from zoe_lib.pushdown.predicate import And, Comparison, IsNull, Predicate, columns

_NEWLINE, _BLANK = 10, 32
_REPLACED = "\ufffd"


class Selector:
    """Selects and projects blocks of whole lines."""

    def __init__(self, selection: Selection) -> None:
        self._csv = selection.csv
        self._names = selection.names
        self._types = selection.column_types
        self._wanted = selection.wanted_positions
        self._predicate = selection.predicate
        self._looked_at = sorted(selection.names.index(name) for name in _columns(self._predicate))
        self._literal = _rare_literal(self._predicate, selection)
        self._whole = self._wanted == tuple(range(len(selection.names)))
        self._asked = max((*self._looked_at, *(() if self._whole else self._wanted)), default=-1) + 1
        self._in_place = selection.in_place
        self._padding = len(selection.names) - 1 - self._wanted[-1] if selection.padded else 0
        # without delimiters, a reader may skip a row as blank
        has_delimiter = len(self._wanted) > 1 or (self._in_place and self._wanted[0] > 0)
        self._may_be_blank = not self._whole and (not has_delimiter or ord(self._csv.delimiter) <= _BLANK)

    def select(self, data: bytes) -> bytes:
        """Return the wanted part of these lines, each ending with a line feed. Raises UnreadableRecordError."""
        quoted = self._in_place and self._csv.quote.encode() in data
        if self._literal is not None and not quoted:
            data = lines_with(data, self._literal)
        if not data:
            return b""
        lines, irregular = lay_out(data, len(self._names), self._csv, self._asked)
        if quoted:
            lines, others = without(lines, dependent_lines(data, lines.starts, lines.ends, self._csv))
            irregular = [*irregular, *others]
        selected = lines.only(self._rows(lines, data)) if self._predicate is not None else lines
        by_hand = {start: self._by_hand(data[start:end]) for start, end in irregular}
        if self._may_be_blank:
            selected, blank = without(selected, self._blank(selected))
            by_hand |= {start: self._by_hand(data[start:end]) for start, end in blank}
        if not by_hand:
            return self._project(selected)
        return self._in_order(selected, {start: text for start, text in by_hand.items() if text is not None})

    def _rows(self, lines: Lines, data: bytes) -> Mask:
        assert self._predicate is not None
        utf8 = _is_utf8(data)
        return evaluate(self._predicate, lambda test: self._test(test, lines, utf8)).true

    def _test(self, test: Comparison | IsNull, lines: Lines, utf8: bool) -> Outcomes:
        column = self._names.index(test.column)
        first, last = lines.value(column)
        null = self._null(lines, column)
        rows = np.flatnonzero(~null)
        fields = Fields(lines.values, first[rows], last[rows], utf8)
        type_ = self._types.get(test.column)
        found = nulls(fields, type_) if isinstance(test, IsNull) else outcomes(fields, type_, test)
        true = null.copy() if isinstance(test, IsNull) else np.zeros(len(null), dtype=bool)
        false = np.zeros(len(null), dtype=bool)
        true[rows], false[rows] = found.true, found.false
        return Outcomes(true, false)

    def _null(self, lines: Lines, column: int) -> Mask:
        first, last = lines.value(column)
        if not self._csv.null_text:
            empty: Mask = first == last
            return empty
        absent: Mask = np.equal(*lines.field(column))
        return absent | equal(lines.values, first, last, self._csv.null_text.encode())

    def _blank(self, lines: Lines) -> Mask:
        """Return which lines are blank in their wanted part."""
        rows = np.arange(len(lines.starts))
        fields = [lines.field(column) for column in self._wanted]
        for first, last in fields:
            begins = lines.buffer[np.minimum(first[rows], len(lines.buffer) - 1)]
            rows = rows[(first[rows] == last[rows]) | (begins <= _BLANK)]
        blank = np.zeros(len(lines.starts), dtype=bool)
        blank[rows] = True
        some = np.logical_or.reduce([last[rows] > first[rows] for first, last in fields])
        for row in rows[some].tolist():
            blank[row] = all((lines.buffer[first[row] : last[row]] <= _BLANK).all() for first, last in fields)
        return blank

    def _project(self, lines: Lines) -> bytes:
        if not len(lines.starts):
            return b""
        if self._whole:
            return _join_fields(lines.buffer, [(lines.starts, lines.ends)], b"\n")
        fields = [lines.field(column) for column in self._wanted]
        if self._in_place:
            return _join_in_place(lines.buffer, fields, self._wanted, self._padding, self._csv.delimiter.encode())
        return _join_fields(lines.buffer, fields, self._csv.delimiter.encode())

    def _in_order(self, kept: Lines, others: dict[int, bytes]) -> bytes:
        """Return the two kinds of lines in the order of the object."""
        texts = [text + b"\n" for text in self._project(kept)[:-1].split(b"\n")] if len(kept.starts) else []
        found = dict(zip(kept.starts.tolist(), texts, strict=True)) | others
        return b"".join(found[start] for start in sorted(found))

    def _by_hand(self, line: bytes) -> bytes | None:
        if self._in_place or (self._whole and self._predicate is None):
            return line + b"\n"
        values = values_of(line, self._csv)
        values += [None] * (len(self._names) - len(values))
        if self._predicate is not None:
            looked_at = {self._names[column]: self._without_null_text(values[column]) for column in self._looked_at}
            if not possible_outcomes(self._predicate, looked_at, self._types).true:
                return None
        if self._whole:
            return line + b"\n"
        return line_with([values[column] for column in self._wanted], self._csv) + b"\n"

    def _without_null_text(self, value: Value) -> Value:
        return None if value == self._csv.null_text.encode() else value


def without(lines: Lines, some: Mask) -> tuple[Lines, list[tuple[int, int]]]:
    """Return the other lines, and begin and end of these."""
    if not some.any():
        return lines, []
    return lines.only(~some), list(zip(lines.starts[some].tolist(), lines.ends[some].tolist(), strict=True))


def lines_with(data: bytes, literal: bytes) -> bytes:
    """Return the lines that contain the literal."""
    found, at = [], data.find(literal)
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at + len(literal)) + 1 or len(data)
        found.append(data[start:end])
        at = data.find(literal, end)
    return b"".join(found)


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _columns(predicate: Predicate | None) -> frozenset[str]:
    return columns(predicate) if predicate is not None else frozenset()


def _rare_literal(predicate: Predicate | None, selection: Selection) -> bytes | None:
    """Return the longest text that every wanted line contains, as written in the file."""
    terms = predicate.terms if isinstance(predicate, And) else (predicate,)
    signs = {selection.csv.quote, selection.csv.escape, "\n", "\r", _REPLACED}
    texts = [
        term.literal.encode()
        for term in terms
        if isinstance(term, Comparison) and term.operator == "=" and isinstance(term.literal, str)
        if term.literal and not set(term.literal) & signs and _is_text(term, selection)
    ]
    return max(texts, key=len, default=None)


def _is_text(test: Comparison, selection: Selection) -> bool:
    """Return whether a field equal to the literal is written like the literal."""
    type_, literal = selection.column_types.get(test.column), str(test.literal)
    if type_ is not None:
        return type_.kind == "string"
    return is_word(literal)


def _join_fields(buffer: Bytes, fields: list[tuple[Positions, Positions]], delimiter: bytes) -> bytes:
    """Copy the fields of each row, with a delimiter between them and a line feed at the end."""
    first = np.stack([first for first, _ in fields], axis=1).ravel()
    lengths = np.stack([last - first for first, last in fields], axis=1).ravel() + 1
    behind = np.cumsum(lengths)
    places = np.arange(behind[-1]) + np.repeat(first - (behind - lengths), lengths)
    np.minimum(places, len(buffer) - 1, out=places)  # the last separator may lie behind the data
    text = buffer[places]
    text[behind - 1] = delimiter[0]
    text[behind[len(fields) - 1 :: len(fields)] - 1] = _NEWLINE
    return bytes(text.tobytes())


def _join_in_place(
    buffer: Bytes,
    fields: list[tuple[Positions, Positions]],
    positions: Sequence[int],
    padding: int,
    delimiter: bytes,
) -> bytes:
    """Copy the fields of each row behind as many delimiters as its position needs, with so many delimiters and a line
    feed at the end.
    """
    first = np.stack([first for first, _ in fields], axis=1).ravel()
    lengths = np.stack([last - first for first, last in fields], axis=1).ravel()
    rows = len(first) // len(fields)
    before = np.diff(np.asarray(positions), prepend=0)
    spaces = np.tile(np.append(before[1:], padding + 1 + before[0]), rows)  # behind each field, with the line feed
    behind = np.cumsum(lengths + spaces) + before[0]
    text = np.full(behind[-1] - before[0], delimiter[0], dtype=np.uint8)
    number = np.arange(int(lengths.sum()))
    before_field = np.cumsum(lengths) - lengths
    text[number + np.repeat(behind - lengths - spaces - before_field, lengths)] = buffer[
        number + np.repeat(first - before_field, lengths)
    ]
    text[behind[len(fields) - 1 :: len(fields)] - before[0] - 1] = _NEWLINE
    return bytes(text.tobytes())
