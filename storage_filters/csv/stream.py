"""Extract the records of a byte range from a stream of an object's bytes: exact at both ends, whatever the chunks
are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from storage_filters.csv.block import Selector
from storage_filters.csv.header import first_line, with_feeds
from storage_filters.csv.media import why_not_csv
from storage_filters.csv.parser import MARK, UnreadableRecordError, is_blank, line_with, values_of
from storage_filters.csv.selection import CsvFormat, Selection

BLOCK_BYTES = 512 * 1024
LINE_BYTES_MAX = 32 * 2**20
TOO_LONG = f"a line is longer than {LINE_BYTES_MAX >> 20} MiB, the limit for views"


class Ranged(Protocol):
    """A selection from a byte range."""

    @property
    def start(self) -> int:
        """Return where it begins."""


def first_byte(selection: Ranged) -> int:
    """Return where the stream for `selection` has to begin: the byte before tells whether a record begins at the
    start.
    """
    return max(selection.start - 1, 0)


def select_records(chunks: Iterable[bytes], selection: Selection) -> Iterator[bytes]:
    """Yield the wanted columns of the records that begin in the range and may be wanted; blocks may be empty.

    chunks: the object's bytes from `first_byte(selection)` on, read only as far as needed. If objects have headers, the
    first line that is not blank is skipped, whatever it contains: columns count by position. Raises
    UnreadableRecordError.
    """
    if selection.end is not None and selection.end <= selection.start:
        return
    selector = Selector(selection)
    with_header = selection.csv.header and selection.start == 0
    begun = False
    for number, block in enumerate(blocks_of(chunks, selection.start, selection.end)):
        rest = block.removeprefix(MARK) if number == 0 and selection.start == 0 else block
        if number == 0 and selection.start == 0 and (why := why_not_csv("the object", block)):
            raise UnreadableRecordError(why)
        rest = with_feeds(rest)
        if with_header:
            header, rest = first_line(rest)
            with_header = is_blank(header)
        delivered = selector.select(rest)
        if delivered and not begun and not selection.in_place:  # readers of such a selection drop no mark
            begun, delivered = True, _with_quoted_mark(delivered, selection.csv)
        yield delivered


def _with_quoted_mark(delivered: bytes, csv: CsvFormat) -> bytes:
    """Return the data with the first line quoted if it begins with a byte order mark, which a reader would drop
    otherwise.
    """
    if not delivered.startswith(MARK):
        return delivered
    line, _, rest = delivered.partition(b"\n")
    return line_with(values_of(line, csv), csv) + b"\n" + rest


def blocks_of(chunks: Iterable[bytes], start: int, end: int | None) -> Iterator[bytes]:
    """Yield whole lines of the range, gathered; the first one begins where the first record does. Raises
    UnreadableRecordError.
    """
    position = max(start - 1, 0)  # of the next byte of the stream
    skipping = start > 0
    held: list[bytes] = []
    size, feeds = 0, False
    for chunk in chunks:
        data, begins = chunk, position
        position += len(chunk)
        if skipping:
            feed = data.find(b"\n")
            if feed < 0:
                if position - start > LINE_BYTES_MAX:
                    raise UnreadableRecordError(TOO_LONG)
                if end is not None and position >= end:
                    return
                continue
            data, begins, skipping = data[feed + 1 :], begins + feed + 1, False
            if end is not None and begins >= end:
                return
        over = _end_of_records(data, begins, end)
        held.append(data[:over] if over is not None else data)
        size, feeds = size + len(held[-1]), feeds or b"\n" in held[-1]
        if over is not None:
            break
        if size >= BLOCK_BYTES and feeds:
            whole, rest = _whole_lines(b"".join(held))
            yield whole
            held, size, feeds = [rest], len(rest), False
        if size > LINE_BYTES_MAX:
            raise UnreadableRecordError(TOO_LONG)
    if size:
        yield b"".join(held)


def _end_of_records(data: bytes, begins: int, end: int | None) -> int | None:
    """Return the position behind the line feed that ends the last record of the range; None if `data` does not contain
    it.
    """
    if end is None:
        return None
    feed = data.find(b"\n", max(end - 1 - begins, 0))
    return feed + 1 if feed >= 0 else None


def _whole_lines(data: bytes) -> tuple[bytes, bytes]:
    end = data.rfind(b"\n") + 1
    return data[:end], data[end:]
