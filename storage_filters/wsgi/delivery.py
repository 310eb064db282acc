"""Send selected records as one gzip member, so that a reader notices a missing end.

Spark does not split a compressed file, so each object of a view is one task, whatever size its listing claims.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

_GZIP = 16 + zlib.MAX_WBITS
_LEVEL = 1
_PIECE_BYTES = 256 * 1024
# Most that compression adds to incompressible bytes, and the header and trailer.
_GROWTH = 1.01
_FRAME_BYTES = 64
# The last record may end behind the range, by the longest line that the CSV stream allows.
_LAST_RECORD_BYTES = 32 * 2**20

Range = Callable[[int, int], Iterator[bytes]]
"""Returns the bytes from one position to before another."""
MEDIA_TYPE = "application/gzip"
SUFFIX = ".csv.gz"


def gzip_blocks(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the blocks as gzip; equal content gives equal bytes, in whatever blocks."""
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    held = b""
    for block in blocks:
        held += block
        while len(held) >= _PIECE_BYTES:
            piece, held = held[:_PIECE_BYTES], held[_PIECE_BYTES:]
            if text := compressor.compress(piece):
                yield text
    yield compressor.compress(held) + compressor.flush()


def begin(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Return the same pieces with the first of them computed: until then, an error can still replace the answer."""
    first = next((piece for piece in pieces if piece), b"")
    return chain([first], pieces)


def first_begun(ranges: Sequence[tuple[int, int]], part: Range) -> Range:
    """Return the same for the parts of several ranges, with the first of them requested now: until then, an error can
    still replace the answer.
    """
    ready = [part(*ranges[0])] if ranges else []
    return lambda first, end: ready.pop() if ready else part(first, end)


def size_claimed(start: int, end: int) -> int:
    """Return a size for listings that the compressed records of a byte range do not exceed.

    A single empty column is written as two quotes, and a value of a single quote as four bytes instead of one: with the
    line's end, five for two.
    """
    return int(((end - start) * 2.5 + _LAST_RECORD_BYTES) * _GROWTH) + _FRAME_BYTES


def part_of(stream: Iterable[bytes], start: int, length: int | None) -> Iterator[bytes]:
    """Yield bytes [start, start + length) of a stream, for a reader that resumes after a broken connection."""
    remaining = length
    for chunk in stream:
        if start >= len(chunk):
            start -= len(chunk)
            continue
        piece = chunk[start:]
        start = 0
        if remaining is not None:
            piece = piece[:remaining]
            remaining -= len(piece)
        if piece:
            yield piece
        if remaining == 0:
            return
