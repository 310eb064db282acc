"""Select from many JSON lines at once with numpy: which may be wanted, and their wanted fields.

Lines that are not regular (see `json_lines.skeletons`) are delivered whole, whatever the condition is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import numpy as np

from storage_filters.csv.block import lines_with
from storage_filters.csv.comparisons import Fields, Outcomes, evaluate, nulls, outcomes
from storage_filters.csv.json_lines.selection import JsonSelection
from storage_filters.csv.json_lines.skeletons import Skeletons, Values
from storage_filters.csv.numbers import integers_of
from storage_filters.csv.quotes import Mask, Positions
from zoe_lib.pushdown.column_types import ColumnType
from zoe_lib.pushdown.predicate import And, Comparison, IsNull, Predicate

_QUOTE, _NULL = b'"n'
_NUMBER = np.isin(np.arange(256), list(b"-0123456789"))
_TRUTH = np.isin(np.arange(256), list(b"tf"))
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_ ]*")
_NUMBERS_BY_NAME = re.compile("nan|inf(inity)?", re.IGNORECASE)


class LineSelector:
    """Selects and projects blocks of whole lines."""

    def __init__(self, selection: JsonSelection) -> None:
        self._names = tuple(selection.fields)
        self._types = selection.column_types
        self._predicate = selection.predicate
        self._literal = _rare_literal(self._predicate, self._types)
        self._skeletons = Skeletons(tuple(selection.fields.values()))
        keys = [json.dumps(key, ensure_ascii=False).encode() for key in selection.fields.values()]
        self._texts = [(b"," if number else b"{") + key + b":" for number, key in enumerate(keys)]

    def select(self, data: bytes) -> bytes:
        """Return the wanted part of these lines, each ending with a line feed."""
        if self._literal is not None and b"\\" not in data:
            data = lines_with(data, self._literal)
        if not data:
            return b""
        values = self._skeletons.values(data if data.endswith(b"\n") else data + b"\n")
        rows = np.arange(len(values.starts))
        if self._predicate is not None:
            found = evaluate(self._predicate, lambda test: self._test(test, values))
            rows = rows[found.true | ~values.regular]
        return self._project(values, rows)

    def _test(self, test: Comparison | IsNull, values: Values) -> Outcomes:
        column = self._names.index(test.column)
        first, last = values.first[:, column], values.last[:, column]
        null = (last == 0) | (values.buffer[first] == _NULL)
        first, last, sure = _sure_values(values, first, last, self._types.get(test.column))
        true, false = ~sure & ~null, ~null
        if isinstance(test, IsNull):
            true |= null
        rows = np.flatnonzero(sure & ~null)
        fields, type_ = Fields(values.buffer, first[rows], last[rows], True), self._types.get(test.column)
        found = nulls(fields, type_) if isinstance(test, IsNull) else outcomes(fields, type_, test)
        true[rows], false[rows] = found.true, found.false
        return Outcomes(true, false)

    def _project(self, values: Values, rows: Positions) -> bytes:
        """Return the rows with the wanted fields, and irregular ones as they are."""
        if not len(rows):
            return b""
        consts = b"".join([*self._texts, b"null", b"}\n"])
        buffer = np.concatenate((values.buffer, np.frombuffer(consts, dtype=np.uint8)))
        at, end = len(values.buffer), len(buffer)
        regular, null = values.regular[rows], end - len(b"null}\n")
        first, size = [np.where(regular, 0, values.starts[rows])], [np.where(regular, 0, _sizes(values)[rows])]
        for column, text in enumerate(self._texts):
            absent = values.last[rows, column] == 0
            begin = np.where(absent, null, values.first[rows, column])
            long = np.where(absent, len(b"null"), values.last[rows, column] - values.first[rows, column])
            first += [np.full(len(rows), at), begin]
            size += [np.where(regular, len(text), 0), np.where(regular, long, 0)]
            at += len(text)
        first.append(np.full(len(rows), end - len(b"}\n")))
        size.append(np.where(regular, len(b"}\n"), 0))
        starts, lengths = np.stack(first, axis=1).ravel(), np.stack(size, axis=1).ravel()
        behind = np.cumsum(lengths)
        return bytes(buffer[np.arange(behind[-1]) + np.repeat(starts - (behind - lengths), lengths)].tobytes())


def _sizes(values: Values) -> Positions:
    sizes: Positions = values.ends + 1 - values.starts
    return sizes


def _sure_values(
    values: Values, first: Positions, last: Positions, type_: ColumnType | None
) -> tuple[Positions, Positions, Mask]:
    """Return begin and end of the values themselves, and which of them Spark reads as values of the type, as the store
    does.
    """
    begins = values.buffer[first]
    if type_ is None:
        return first, last, np.zeros(len(first), dtype=bool)
    if type_.kind in ("string", "date"):
        plain = np.searchsorted(values.escapes, first) == np.searchsorted(values.escapes, last)
        return first + 1, last - 1, (begins == _QUOTE) & plain
    if type_.kind == "boolean":
        return first, last, _TRUTH[begins]
    sure = _NUMBER[begins]
    if type_.is_integer:
        numbers, known = integers_of(values.buffer, first, last)
        least, most = type_.bounds
        return first, last, sure & known & (numbers >= least) & (numbers <= most)
    return first, last, sure & (type_.kind in ("double", "decimal"))


def _rare_literal(predicate: Predicate | None, types: Mapping[str, ColumnType]) -> bytes | None:
    """Return the longest text that every wanted line without escapes contains, even one that is not regular.

    A value equals it only if it is a text in the line: names of truth values, which are no texts, are in the line, too.
    """
    terms = predicate.terms if isinstance(predicate, And) else (predicate,)
    texts = [
        term.literal.encode()
        for term in terms
        if isinstance(term, Comparison) and term.operator == "=" and isinstance(term.literal, str)
        if _WORD.fullmatch(term.literal) and not _NUMBERS_BY_NAME.fullmatch(term.literal)
        if (type_ := types.get(term.column)) is not None and type_.kind == "string"
    ]
    return max(texts, key=len, default=None)
