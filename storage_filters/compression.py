"""Compression of streams by zstd, lz4 or gzip, in their usual formats with a checksum.

A range is decompressed from the start, since none of them can begin in the middle; what is before it is dropped piece
by piece.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import lz4.frame  # type: ignore[import-untyped]
import zstandard

from storage_filters.stream_filters import PIECE_BYTES, DamagedObjectError, Span

_GZIP = 16 + zlib.MAX_WBITS
_ZSTD_WINDOW_BYTES_MAX = 2**27
LEVELS = {"ZSTD": 19, "LZ4": 12, "GZIP": 9}
"""The types, and their highest levels."""
_DAMAGES = (zlib.error, zstandard.ZstdError, RuntimeError, EOFError, ValueError)


class Compression:
    """A type and a level; to run backward, the level does not matter."""

    def __init__(self, kind: str, level: int = 1) -> None:
        self._kind = kind
        self._level = level

    def forward(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the compressed bytes."""
        return _COMPRESS[self._kind](chunks, self._level)

    def reverse(self, chunks: Iterable[bytes], first: int, to_end: bool) -> Iterator[bytes]:
        """Yield the bytes that were compressed, in pieces of 64 KiB at most."""
        assert (first, to_end) == (0, True)
        try:
            yield from _DECOMPRESS[self._kind](chunks)
        except _DAMAGES as error:
            raise DamagedObjectError(f"{self._kind.lower()} cannot be unpacked: {error}") from error

    def span(self, first: int, end: int | None) -> Span:  # noqa: ARG002
        """Return all: it begins at the start."""
        return Span(0, None, first)

    def record(self) -> Mapping[str, Any]:
        """Return the type."""
        return {"filter": "COMPRESSION", "type": self._kind}


def _to_zstd(chunks: Iterable[bytes], level: int) -> Iterator[bytes]:
    compressor = zstandard.ZstdCompressor(level=level, write_checksum=True).compressobj()
    for chunk in chunks:
        if packed := compressor.compress(chunk):
            yield packed
    yield compressor.flush()


def _to_lz4(chunks: Iterable[bytes], level: int) -> Iterator[bytes]:
    # Levels from 3 on are those of the slower algorithm; up to then the library has one.
    with lz4.frame.LZ4FrameCompressor(compression_level=level if level > 1 else 0, content_checksum=True) as compressor:
        yield compressor.begin()
        for chunk in chunks:
            if packed := compressor.compress(chunk):
                yield packed
        yield compressor.flush()


def _to_gzip(chunks: Iterable[bytes], level: int) -> Iterator[bytes]:
    compressor = zlib.compressobj(level, zlib.DEFLATED, _GZIP)
    for chunk in chunks:
        if packed := compressor.compress(chunk):
            yield packed
    yield compressor.flush()


class _Reader:
    """The chunks as a file, for a library that reads one."""

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
    reader = decompressor.stream_reader(_Reader(chunks), read_size=PIECE_BYTES)  # type: ignore[arg-type]
    while piece := reader.read(PIECE_BYTES):
        yield piece


def _of_lz4(chunks: Iterable[bytes]) -> Iterator[bytes]:
    decompressor = lz4.frame.LZ4FrameDecompressor()
    for chunk in chunks:
        piece = decompressor.decompress(chunk, max_length=PIECE_BYTES)
        while piece or not (decompressor.needs_input or decompressor.eof):
            yield piece
            if decompressor.eof:
                return
            piece = b"" if decompressor.needs_input else decompressor.decompress(b"", max_length=PIECE_BYTES)
        if decompressor.eof:
            return


def _of_gzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    decompressor = zlib.decompressobj(_GZIP)
    for chunk in chunks:
        rest = chunk
        while rest and not decompressor.eof:
            yield decompressor.decompress(rest, PIECE_BYTES)
            rest = decompressor.unconsumed_tail
    # Bytes that the last call had no room for.
    while not decompressor.eof and (piece := decompressor.decompress(b"", PIECE_BYTES)):
        yield piece


_COMPRESS: Mapping[str, Callable[[Iterable[bytes], int], Iterator[bytes]]] = {
    "ZSTD": _to_zstd,
    "LZ4": _to_lz4,
    "GZIP": _to_gzip,
}
_DECOMPRESS: Mapping[str, Callable[[Iterable[bytes]], Iterator[bytes]]] = {
    "ZSTD": _of_zstd,
    "LZ4": _of_lz4,
    "GZIP": _of_gzip,
}
