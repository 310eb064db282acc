"""Find the lines of a block of CSV, and the fields of regular ones, many at once with numpy.

A line is regular if the meaning of each of its quotes is known (see `csv.quotes`). Other lines (plain fields with
quotes beside quoted ones, a quote that is not closed, a zero byte) are left to `csv.parser`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from storage_filters.csv.parser import is_blank
from storage_filters.csv.quotes import Bytes, Mask, Positions, find_quotes
from storage_filters.csv.selection import CsvFormat

_NEWLINE, _BLANK, _ZERO = 10, 32, 0


@dataclass(frozen=True, slots=True)
class Lines:
    """Regular lines of a block: [starts, ends) in `buffer` without line ends, and where each of the first fields ends
    (lines x requested columns).

    Missing fields are empty ones at the end of the line; surplus ones are part of the line only. quote: the byte that
    opens quoted fields, None if the block contains none. values: the buffer without the bytes at `silent`, so that it
    holds the values themselves.
    """

    buffer: Bytes
    starts: Positions
    ends: Positions
    stops: NDArray[np.int64]
    quote: int | None
    values: Bytes
    silent: Positions

    def field(self, column: int) -> tuple[Positions, Positions]:
        """Return begin and end in `buffer` of this column's field in each line, as written."""
        last = self.stops[:, column]
        return self.starts if column == 0 else np.minimum(self.stops[:, column - 1] + 1, last), last

    def value(self, column: int) -> tuple[Positions, Positions]:
        """Return begin and end in `values` of the field's value."""
        first, last = self.field(column)
        if self.quote is None:
            return first, last
        # An empty last field may begin behind the data.
        quoted = (last > first) & (self.buffer[np.minimum(first, len(self.buffer) - 1)] == self.quote)
        first, last = first + quoted, last - quoted
        if not len(self.silent):
            return first, last
        return first - np.searchsorted(self.silent, first), last - np.searchsorted(self.silent, last)

    def only(self, rows: Mask) -> Lines:
        """Return some of the lines."""
        if rows.all():
            return self
        return replace(self, starts=self.starts[rows], ends=self.ends[rows], stops=self.stops[rows])


def lay_out(data: bytes, columns: int, csv: CsvFormat, needed: int) -> tuple[Lines, list[tuple[int, int]]]:
    """Return the regular lines of `data`, which is not empty, and begin and end of each other one, without blank lines.

    Only line feeds end lines.

    needed: the number of columns, from the first on, whose field ends are found.
    """
    buffer = np.frombuffer(data, dtype=np.uint8)
    starts, ends = _lines(data, buffer)
    delimiters = np.flatnonzero(buffer == ord(csv.delimiter))
    regular = np.ones(len(starts), dtype=bool)
    if b"\0" in data:
        regular &= ~np.logical_or.reduceat(np.append(buffer == _ZERO, False), np.stack((starts, ends), 1).ravel())[::2]
    quotes = find_quotes(buffer, starts, ends, csv) if csv.quote.encode() in data else None
    quote, values, silent = None, buffer, starts[:0]
    if quotes is not None:
        quote, silent = ord(csv.quote), quotes.silent
        values = np.delete(buffer, silent) if len(silent) else buffer
        regular &= quotes.well
        delimiters = _outside(delimiters, quotes.opens, quotes.closes)
    irregular: list[tuple[int, int]] = []
    if not regular.all():
        irregular = list(zip(starts[~regular].tolist(), ends[~regular].tolist(), strict=True))
        starts, ends = starts[regular], ends[regular]
    stops = _stops_of_full(delimiters, starts, ends, columns, needed)
    if stops is None:
        stops = _field_ends(delimiters, starts, ends, needed)
    return Lines(buffer, starts, ends, stops, quote, values, silent), irregular


def _lines(data: bytes, buffer: Bytes) -> tuple[Positions, Positions]:
    """Return starts and ends of lines that are not blank, without line feed."""
    feeds = np.flatnonzero(buffer == _NEWLINE)
    ends = feeds if len(feeds) and feeds[-1] == len(buffer) - 1 else np.append(feeds, len(buffer))
    starts = np.concatenate(([0], ends[:-1] + 1))
    there = ends > starts
    # Readers skip lines without a character above the blank.
    for row in np.flatnonzero(there & (buffer[np.minimum(starts, len(buffer) - 1)] <= _BLANK)).tolist():
        there[row] = not is_blank(data[starts[row] : ends[row]])
    return (starts, ends) if there.all() else (starts[there], ends[there])


def _stops_of_full(
    delimiters: Positions, starts: Positions, ends: Positions, columns: int, needed: int
) -> NDArray[np.int64] | None:
    """Return where each field ends, if every line has exactly one delimiter between any two columns; None otherwise.

    Then the delimiters already are a table of lines x (columns - 1): nothing has to be searched or copied.
    """
    between = columns - 1
    if not between or len(delimiters) != len(starts) * between:
        return None
    stops = delimiters.reshape(len(starts), between)
    if not ((stops[:, 0] >= starts).all() and (stops[:, -1] < ends).all()):
        return None
    return stops[:, :needed] if needed < columns else np.column_stack((stops, ends))


def _field_ends(delimiters: Positions, starts: Positions, ends: Positions, columns: int) -> NDArray[np.int64]:
    """Return where each field ends: at the next delimiter, or with the line if that delimiter is in a later line."""
    behind = np.append(delimiters, np.repeat(ends[-1:], columns))
    following = np.searchsorted(delimiters, starts)[:, None] + np.arange(columns)
    stops: NDArray[np.int64] = behind[following]
    return np.minimum(stops, ends[:, None], out=stops)


def _outside(delimiters: Positions, opened: Positions, closed: Positions) -> Positions:
    """Return the delimiters outside quoted fields. `opened` and `closed` are the quotes around those, in order."""
    first, behind = np.searchsorted(delimiters, opened), np.searchsorted(delimiters, closed)
    holds = behind > first
    change = np.zeros(len(delimiters) + 1, dtype=np.int8)
    change[first[holds]] += 1
    change[behind[holds]] -= 1
    outside: Positions = delimiters[np.cumsum(change[:-1], dtype=np.int8) == 0]
    return outside
