"""A stream of an object's bytes to the records of a byte range: exact at both ends, whatever the chunks are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from storage_bridge.swift.csv_block import Selector
from storage_bridge.swift.csv_line import MalformedRecordError, raw_fields, text_of
from storage_bridge.swift.selection import CsvFormat, Selection

BLOCK_BYTES = 512 * 1024
LINE_BYTES_MAX = 16 * 2**20
_MARK = b"\xef\xbb\xbf"  # what some programs put before UTF-8


def first_byte(selection: Selection) -> int:
    """Where the stream for `selected` has to begin: the byte before tells whether a record begins at the start."""
    return max(selection.start - 1, 0)


def selected(chunks: Iterable[bytes], selection: Selection) -> Iterator[bytes]:
    """The wanted columns of the wanted records that begin in the range; blocks may be empty.

    chunks: the object's bytes from `first_byte(selection)` on. No more of them are taken than needed.
    Raises MalformedRecordError, also when the header names other columns than the selection.
    """
    if selection.end is not None and selection.end <= selection.start:
        return
    selector = Selector(selection)
    for number, block in enumerate(_blocks(chunks, selection)):
        rest = block
        if number == 0 and selection.start == 0:
            rest = rest.removeprefix(_MARK)
            if selection.csv.header:
                header, _, rest = rest.partition(b"\n")
                _check(header, selection)
        yield selector.select(rest)


def header_names(line: bytes, csv: CsvFormat) -> tuple[str, ...]:
    """The names of columns in an object's first line. MalformedRecordError."""
    fields = raw_fields(line.removeprefix(_MARK).rstrip(b"\r\n"), csv)
    try:
        return tuple((text_of(field, csv) or b"").decode() for field in fields)
    except UnicodeDecodeError:
        raise MalformedRecordError("the header is not UTF-8") from None


def _check(header: bytes, selection: Selection) -> None:
    names = header_names(header, selection.csv)
    if names != selection.names:
        raise MalformedRecordError(f"the header is {', '.join(names)}, expected {', '.join(selection.names)}")


def _blocks(chunks: Iterable[bytes], selection: Selection) -> Iterator[bytes]:
    """Whole lines of the range, gathered; the first one begins where the first record does."""
    position = first_byte(selection)  # of the next byte of the stream
    skipping = selection.start > 0
    held: list[bytes] = []
    size = 0
    for chunk in chunks:
        data, begins = chunk, position
        position += len(chunk)
        if skipping:
            feed = data.find(b"\n")
            if feed < 0:
                if position - selection.start > LINE_BYTES_MAX:
                    raise MalformedRecordError(f"a line is longer than {LINE_BYTES_MAX} bytes")
                if selection.end is not None and position >= selection.end:
                    return
                continue
            data, begins, skipping = data[feed + 1 :], begins + feed + 1, False
            if selection.end is not None and begins >= selection.end:
                return
        over = _over(data, begins, selection)
        held.append(data[:over] if over is not None else data)
        size += len(held[-1])
        if over is not None:
            break
        if size >= BLOCK_BYTES:
            whole, rest = _whole_lines(b"".join(held))
            if whole:
                yield whole
            elif len(rest) > LINE_BYTES_MAX:
                raise MalformedRecordError(f"a line is longer than {LINE_BYTES_MAX} bytes")
            held, size = [rest], len(rest)
    if size:
        yield b"".join(held)


def _over(data: bytes, begins: int, selection: Selection) -> int | None:
    """Behind the line feed that ends the last record of the range; None when it is not in `data`."""
    if selection.end is None:
        return None
    feed = data.find(b"\n", max(selection.end - 1 - begins, 0))
    return feed + 1 if feed >= 0 else None


def _whole_lines(data: bytes) -> tuple[bytes, bytes]:
    end = data.rfind(b"\n") + 1
    return data[:end], data[end:]
