"""Compression of streams by zstd, lz4 or gzip, in their usual formats with a checksum.

With zstd and lz4, each 256 KiB are a separate frame, and a table of the frames is at the end (`seek_table.py`): a range
is read from its first frame on. With gzip, and for objects of earlier versions, a range is decompressed from the start,
and the bytes before it are dropped piece by piece.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import lz4.frame  # type: ignore[import-untyped]
import zstandard

from storage_filters.transforms.seek_table import FRAME_BYTES, SeekTable
from storage_filters.transforms.stream_filters import PIECE_BYTES, DamagedObjectError, Span

_GZIP = 16 + zlib.MAX_WBITS
_TABLE_BYTES_MAX = 1 << 20
"""Largest table of frames: of an object of 32 GiB."""
_ZSTD_WINDOW_BYTES_MAX = 2**27
LEVELS = {"ZSTD": 19, "LZ4": 12, "GZIP": 9}
"""Types, with their highest levels."""
_DAMAGES = (zlib.error, zstandard.ZstdError, RuntimeError, EOFError, ValueError)


class Compression:
    """A type and a level, which does not matter backward. table_at: first byte and end of the table of frames in the
    stored bytes, if there is one.
    """

    def __init__(self, kind: str, level: int = 1, table_at: tuple[int, int] | None = None) -> None:
        self._kind = kind
        self.level = level
        self._table: SeekTable | None = None
        self._table_at = table_at

    @property
    def wanted_table(self) -> tuple[int, int] | None:
        """Return where the table of frames is; None without one, or if it is known already."""
        return self._table_at if self._table is None else None

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Compression:
        """Return the compression of a stored object. Raises ValueError and TypeError."""
        at = record.get("table")
        if at is None:
            return cls(record["type"])
        first, end = at
        if not (isinstance(first, int) and isinstance(end, int) and 0 < first < end <= first + _TABLE_BYTES_MAX):
            raise ValueError("its table of frames is nowhere")
        return cls(record["type"], table_at=(first, end))

    def forward(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the compressed bytes."""
        if self._kind not in _FRAME:
            yield from _to_gzip(chunks, self.level)
            return
        frame, frames = _FRAME[self._kind](self.level), []
        for block in _blocks(chunks):
            packed = frame(block)
            frames.append((len(packed), len(block)))
            yield packed
        if len(frames) > 1:
            table = SeekTable(frames)
            raw = table.to_frame()
            self._table_at = table.stored_size, table.stored_size + len(raw)
            yield raw

    def reverse(self, chunks: Iterable[bytes], first: int, to_end: bool) -> Iterator[bytes]:  # noqa: ARG002
        """Yield the original bytes, in pieces of 64 KiB at most. first: where a frame begins."""
        try:
            pieces = _DECOMPRESS[self._kind](chunks)
            yield from _verified_pieces(pieces) if self._kind in _FRAME else pieces
        except _DAMAGES as error:
            raise DamagedObjectError(f"{self._kind.lower()} cannot be unpacked: {error}") from error

    def learn(self, table: bytes) -> None:
        """Read the table of frames. Raises DamagedObjectError."""
        found = SeekTable.parse(table)
        if self._table_at is None or found.stored_size != self._table_at[0]:
            raise DamagedObjectError("its table of frames is that of another object")
        self._table = found

    def span(self, first: int, end: int | None) -> Span:
        """Return the frames that contain a range; without a table, all from the start."""
        return self._table.span(first, end) if self._table is not None else Span(0, None, first)

    def record(self) -> Mapping[str, Any]:
        """Return the type, and the place of the table, which is known when all is compressed."""
        made = {"filter": "COMPRESSION", "type": self._kind}
        return made if self._table_at is None else {**made, "table": list(self._table_at)}


def _blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield blocks of one size, the last one shorter; an empty one for an empty body."""
    held = bytearray()
    empty = True
    for chunk in chunks:
        held += chunk
        while len(held) >= FRAME_BYTES:
            yield bytes(held[:FRAME_BYTES])
            del held[:FRAME_BYTES]
            empty = False
    if held or empty:
        yield bytes(held)


def _verified_pieces(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes of a frame once its checksum is verified, which happens when a piece of the next frame comes, or
    none.
    """
    held = bytearray()
    for piece in pieces:
        held += piece
        while len(held) > FRAME_BYTES:
            yield from _cut(bytes(held[:FRAME_BYTES]))
            del held[:FRAME_BYTES]
    yield from _cut(bytes(held))


def _cut(frame: bytes) -> Iterator[bytes]:
    for first in range(0, len(frame), PIECE_BYTES):
        yield frame[first : first + PIECE_BYTES]


def _zstd_frame(level: int) -> Callable[[bytes], bytes]:
    return zstandard.ZstdCompressor(level=level, write_checksum=True).compress


def _lz4_frame(level: int) -> Callable[[bytes], bytes]:
    # Levels from 3 on use the slower algorithm; below that, the library has a single level.
    chosen = level if level > 1 else 0
    return lambda block: bytes(lz4.frame.compress(block, compression_level=chosen, content_checksum=True))


def _to_gzip(chunks: Iterable[bytes], level: int) -> Iterator[bytes]:
    compressor = zlib.compressobj(level, zlib.DEFLATED, _GZIP)
    for chunk in chunks:
        if packed := compressor.compress(chunk):
            yield packed
    yield compressor.flush()


class _Reader:
    """The chunks as a file, for a library that needs one."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = b""

    def read(self, size: int) -> bytes:
        while not self._rest:
            if (chunk := next(self._chunks, None)) is None:
                return b""
            self._rest = chunk
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece


def _of_zstd(chunks: Iterable[bytes]) -> Iterator[bytes]:
    decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES_MAX)
    reader = decompressor.stream_reader(
        _Reader(chunks),  # type: ignore[arg-type]
        read_size=PIECE_BYTES,
        read_across_frames=True,
    )
    while piece := reader.read(PIECE_BYTES):
        yield piece


def _of_lz4(chunks: Iterable[bytes]) -> Iterator[bytes]:
    decompressor = lz4.frame.LZ4FrameDecompressor()
    for chunk in chunks:
        rest = chunk
        while rest or not (decompressor.needs_input or decompressor.eof):
            piece = decompressor.decompress(rest, max_length=PIECE_BYTES)
            rest = b""
            if piece:
                yield piece
            if decompressor.eof:
                rest = decompressor.unused_data or b""
                decompressor.reset()


def _of_gzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    decompressor = zlib.decompressobj(_GZIP)
    for chunk in chunks:
        rest = chunk
        while rest and not decompressor.eof:
            yield decompressor.decompress(rest, PIECE_BYTES)
            rest = decompressor.unconsumed_tail
    # Bytes for which the last call had no room.
    while not decompressor.eof and (piece := decompressor.decompress(b"", PIECE_BYTES)):
        yield piece


_FRAME: Mapping[str, Callable[[int], Callable[[bytes], bytes]]] = {"ZSTD": _zstd_frame, "LZ4": _lz4_frame}
_DECOMPRESS: Mapping[str, Callable[[Iterable[bytes]], Iterator[bytes]]] = {
    "ZSTD": _of_zstd,
    "LZ4": _of_lz4,
    "GZIP": _of_gzip,
}
