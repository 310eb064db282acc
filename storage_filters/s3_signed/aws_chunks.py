"""Check the lines between the chunks of an S3 body (`aws-chunked`), before `s3api` reads their numbers. Pure.

`s3api` reads lines of any length, and numbers as Python does: also `+5`, `-0`, `0x5`, `1_0` and ` 5`. A stricter proxy
in between would see other chunks. https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

LINE_BYTES_MAX = 1024
"""Longest line: a size with its signature (some 90 bytes), or a checksum after the last chunk."""
_SIZE = re.compile(rb"([0-9a-fA-F]{1,16})(;[^\r\n]*)?\r\n")


def size_of(line: bytes) -> int | None:
    """Return the size in the line before a chunk, in bytes; None for any other line."""
    found = _SIZE.fullmatch(line)
    return None if found is None else int(found[1], 16)


class ChunkLines:
    """The body of a request, for `s3api`, which reads lines without a bound, and contents with one.

    refused: makes the exception for a bad line, from a sentence.
    """

    def __init__(self, body: Any, refused: Callable[[str], BaseException]) -> None:
        self._body = body
        self._refused = refused
        self._ended = False
        self.trailers: dict[str, str] = {}
        """Headers behind the last chunk, in lower case."""

    def read(self, *size: int) -> bytes:
        """Return contents of the body."""
        piece: bytes = self._body.read(*size)
        return piece

    def readline(self, size: int | None = None) -> bytes:
        """Return the next line; without a size it is a line between chunks, and checked."""
        if size is not None and size >= 0:
            contents: bytes = self._body.readline(size)
            return contents
        line: bytes = self._body.readline(LINE_BYTES_MAX + 1)
        if len(line) > LINE_BYTES_MAX:
            raise self._refused(f"a line of the chunks has more than {LINE_BYTES_MAX} bytes")
        if not self._ended:
            chunk = size_of(line)
            if chunk is None:
                raise self._refused(f"not the size of a chunk: {line[:80]!r}")
            self._ended = chunk == 0
        elif line.strip():
            name, _, value = line.decode("latin-1").partition(":")
            self.trailers[name.strip().lower()] = value.strip()
        return line

    def close(self) -> None:
        """Close the body, if it can be."""
        if (close := getattr(self._body, "close", None)) is not None:
            close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._body, name)
