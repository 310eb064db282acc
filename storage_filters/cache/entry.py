"""File format of a cached object: its description, its bytes, and a checksum of each block.

    magic, length of the text, length of the bytes, checksum of the text | text (JSON) | bytes | checksums, and theirs

The reader trusts nothing on the disk: it detects a truncated or changed file before it returns a byte of the damage.
Checksums (CRC-32) are against accidents; the directory belongs to the proxy alone.
"""

from __future__ import annotations

import json
import os
import stat
import struct
import zlib
from array import array
from collections.abc import Iterator, Mapping
from typing import IO, Any

BLOCK_BYTES = 64 * 1024
_MAGIC = b"zoecach1"
_HEAD = struct.Struct("<8sIQI")
_TEXT_BYTES_MAX = 64 * 1024
_SUM_BYTES = 4


class DamagedEntryError(Exception):
    """A file of the cache has changed since it was written."""


def _blocks(length: int) -> int:
    return -(-length // BLOCK_BYTES)


def file_bytes(about: Mapping[str, Any], length: int) -> int:
    """Return the size of the file of an entry."""
    return _HEAD.size + len(_text(about)) + length + _SUM_BYTES * (_blocks(length) + 1)


def _text(about: Mapping[str, Any]) -> bytes:
    return json.dumps(about, separators=(",", ":")).encode()


class EntryWriter:
    """Writes an entry of `length` bytes into an empty file. Raises OSError."""

    def __init__(self, file: IO[bytes], about: Mapping[str, Any], length: int) -> None:
        text = _text(about)
        self._file = file
        self._left = length
        self._sums = array("I")
        self._sum, self._in_block = 0, 0
        file.write(_HEAD.pack(_MAGIC, len(text), length, zlib.crc32(text)) + text)

    @property
    def complete(self) -> bool:
        """Return whether all bytes are written."""
        return self._left == 0

    def write(self, chunk: bytes) -> None:
        """Write the next bytes. Raises ValueError for more than `length`."""
        if len(chunk) > self._left:
            raise ValueError("more bytes than promised")
        self._file.write(chunk)
        view = memoryview(chunk)
        while view:
            piece = view[: BLOCK_BYTES - self._in_block]
            self._sum, self._in_block = zlib.crc32(piece, self._sum), self._in_block + len(piece)
            view = view[len(piece) :]
            if self._in_block == BLOCK_BYTES:
                self._end_block()
        self._left -= len(chunk)

    def finish(self) -> None:
        """Write the checksums. Raises ValueError if bytes are missing."""
        if self._left:
            raise ValueError(f"{self._left} bytes are missing")
        if self._in_block:
            self._end_block()
        sums = self._sums.tobytes()
        self._file.write(sums + struct.pack("<I", zlib.crc32(sums)))
        self._file.flush()

    def _end_block(self) -> None:
        self._sums.append(self._sum)
        self._sum, self._in_block = 0, 0


class Entry:
    """An entry that is open for reading; it stays readable when its file is removed. about: the description of the
    object.
    """

    def __init__(self, file: IO[bytes]) -> None:
        """Read all but the bytes. Raises DamagedEntryError or OSError."""
        self._file = file
        status = os.fstat(file.fileno())
        try:
            magic, text_length, self.length, text_sum = _HEAD.unpack(file.read(_HEAD.size))
            if magic != _MAGIC or text_length > _TEXT_BYTES_MAX or not stat.S_ISREG(status.st_mode):
                raise DamagedEntryError("not a file of the cache")
            text = file.read(text_length)
            if zlib.crc32(text) != text_sum:
                raise DamagedEntryError("its description is damaged")
            self._start = _HEAD.size + text_length
            if status.st_size != self._start + self.length + _SUM_BYTES * (_blocks(self.length) + 1):
                raise DamagedEntryError("its length is wrong")
            self.about: dict[str, Any] = json.loads(text)
        except (struct.error, ValueError) as error:
            raise DamagedEntryError(f"not a file of the cache: {error}") from None
        self._sums: array[int] | None = None

    def read(self, first: int, end: int) -> Iterator[bytes]:
        """Yield the bytes from `first` to before `end`, after checking each block. Raises DamagedEntryError or
        OSError.
        """
        descriptor = self._file.fileno()
        sums = self._checksums(descriptor)
        for block in range(first // BLOCK_BYTES, _blocks(min(end, self.length))):
            begin = block * BLOCK_BYTES
            wanted = min(BLOCK_BYTES, self.length - begin)
            data = os.pread(descriptor, wanted, self._start + begin)
            if len(data) != wanted or zlib.crc32(data) != sums[block]:
                raise DamagedEntryError(f"block {block} is damaged")
            yield data if first <= begin and begin + wanted <= end else data[max(first - begin, 0) : end - begin]

    def _checksums(self, descriptor: int) -> array[int]:
        if self._sums is None:
            length = _SUM_BYTES * (_blocks(self.length) + 1)
            data = os.pread(descriptor, length, self._start + self.length)
            if len(data) != length or zlib.crc32(data[:-_SUM_BYTES]) != struct.unpack("<I", data[-_SUM_BYTES:])[0]:
                raise DamagedEntryError("its checksums are damaged")
            self._sums = array("I", data[:-_SUM_BYTES])
        return self._sums

    def close(self) -> None:
        """Close the file."""
        self._file.close()
