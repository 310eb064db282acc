"""Find which quotes of a block of CSV open a field and which close one, for all lines at once with numpy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from storage_filters.csv.selection import CsvFormat

Positions = NDArray[np.int64]
Mask = NDArray[np.bool_]
Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Quotes:
    """The known quotes of some lines.

    well: for each line, whether every quote in it opens a field, closes one, is one of two within a quoted field where
        quotes escape quotes, is escaped there, or is in a line without quoted fields; nothing is known of the others.
    opens, closes: the quotes around quoted text, alternating; two within a field close and open it again.
    silent: bytes of quoted fields that are not part of the value: the first of two quotes, an effective escape.
    """

    well: Mask
    opens: Positions
    closes: Positions
    silent: Positions


def find_quotes(buffer: Bytes, starts: Positions, ends: Positions, csv: CsvFormat) -> Quotes | None:
    """Return the quotes of the lines [starts, ends); None if there is none in the whole block."""
    quotes = np.flatnonzero(buffer == ord(csv.quote))
    if not len(quotes):
        return None
    escapes = _escapes(buffer, csv)
    quotes = np.setdiff1d(quotes, escapes + 1, assume_unique=True)
    delimiter = ord(csv.delimiter)
    line = np.searchsorted(ends, quotes)
    begins = (quotes == starts[line]) | (buffer[np.maximum(quotes - 1, 0)] == delimiter)
    # If no field begins with a quote, quotes are text.
    quoted = np.zeros(len(starts), dtype=bool)
    quoted[line[begins]] = True
    there = quoted[line]
    quotes, line, begins = quotes[there], line[there], begins[there]

    before = np.searchsorted(quotes, starts)
    opens = (np.arange(len(quotes)) - before[line]) % 2 == 0
    finishes = (quotes == ends[line] - 1) | (buffer[np.minimum(quotes + 1, len(buffer) - 1)] == delimiter)
    # With another escape character, Spark takes a field with two quotes as text; `csv.parser` handles it.
    doubled = ~opens[:-1] & (np.diff(quotes) == 1) & (csv.escape == csv.quote)
    right = np.where(opens, begins, finishes)
    right[:-1] |= doubled
    right[1:] |= doubled
    well: Mask = np.bincount(line, minlength=len(starts)) % 2 == 0
    well[line[~right]] = False

    inside = (np.searchsorted(quotes, escapes) - before[np.searchsorted(ends, escapes)]) % 2 == 1
    silent = np.sort(np.concatenate((quotes[:-1][doubled], escapes[inside])))
    known = well[line]
    return Quotes(well, quotes[opens & known], quotes[~opens & known], silent)


def dependent_lines(data: bytes, starts: Positions, ends: Positions, csv: CsvFormat) -> Mask:
    """Return the regular lines of `data` that Spark may read differently if its parser skips columns: all with a quote
    and beside it an escape or another quote next to one.
    """
    quote = csv.quote.encode()
    odd = [sign for sign in (quote * 2, *([] if csv.escape == csv.quote else [csv.escape.encode()])) if sign in data]
    if not odd:
        return np.zeros(len(starts), dtype=bool)
    buffer = np.frombuffer(data, dtype=np.uint8)
    quotes = np.flatnonzero(buffer == quote[0])
    places = [quotes[:-1][np.diff(quotes) == 1] if len(sign) > 1 else np.flatnonzero(buffer == sign[0]) for sign in odd]
    return _lines_with(quotes, starts, ends) & _lines_with(np.concatenate(places), starts, ends)


def _lines_with(places: Positions, starts: Positions, ends: Positions) -> Mask:
    """Return the lines in which any of the places lies."""
    found = np.zeros(len(starts) + 1, dtype=bool)
    line = np.searchsorted(ends, places, side="right")
    found[line[places >= np.append(starts, len(starts) and ends[-1])[line]]] = True
    return found[:-1]


def _escapes(buffer: Bytes, csv: CsvFormat) -> Positions:
    """Return the escapes that are effective within a quoted field: before a quote or an escape, and not escaped
    themselves.
    """
    places = np.flatnonzero(buffer == ord(csv.escape))
    if csv.escape == csv.quote or not len(places):
        return places[:0]
    runs = np.flatnonzero(np.diff(places, prepend=-2) != 1)
    nth = np.arange(len(places)) - np.repeat(runs, np.diff(np.append(runs, len(places))))
    holding: Positions = places[nth % 2 == 0]
    following = buffer[np.minimum(holding + 1, len(buffer) - 1)]
    matters: Positions = holding[(following == ord(csv.quote)) | (following == ord(csv.escape))]
    return matters
