"""Refuse HTTP requests with an ambiguous end, which this server and a proxy before it could read differently.

RFC 9112, sections 2.2, 5, 6 and 7.1, without the leniency that it permits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NAMED = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+:")
_LENGTH = re.compile(r"[0-9]{1,19}")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,15})(?:[ \t]*;[^\r\n\x00]*)?\r\n")
_OLD = b"HTTP/1.0"
TRAILER_BYTES_MAX = 1 << 14
LINE_BYTES_MAX = 1 << 12
"""Longest line before a chunk: its size, and an extension, which is ignored."""


class AmbiguousRequestError(OSError, ValueError):
    """Part of a request is ambiguous; the message says which part.

    Swift handles it as a ValueError. eventlet handles it as an OSError when it reads the rest of a body after the
    answer; for other errors, it logs a traceback.
    """


def check_head(raw: bytes) -> None:
    """Check the raw request line and header lines. Raises AmbiguousRequestError."""
    lines = raw.split(b"\n")
    if lines.pop():
        raise AmbiguousRequestError("the head does not end with a line")
    for number, line in enumerate(lines):
        text = line.removesuffix(b"\r")
        if text == line:
            raise AmbiguousRequestError("a line ends with LF instead of CR LF")
        if b"\r" in text or b"\x00" in text:
            raise AmbiguousRequestError("a line contains CR or NUL")
        if number and text and not _NAMED.match(text):
            raise AmbiguousRequestError("a header line is folded, has no colon, or a blank before it")


def check_headers(headers: Iterable[tuple[str, str]], old: bool = False) -> None:
    """Check the headers as a server parsed them. old: the request is of HTTP/1.0, which has no codings. Raises
    AmbiguousRequestError.
    """
    lengths, codings = [], []
    for name, value in headers:
        if not _TOKEN.fullmatch(name):
            raise AmbiguousRequestError("the name of a header contains blanks or other characters that no name has")
        if "\r" in value or "\n" in value or "\x00" in value:
            raise AmbiguousRequestError("a header line is folded, or contains CR or NUL")
        lengths += [value] * (name.lower() == "content-length")
        codings += [value] * (name.lower() == "transfer-encoding")
    if len(lengths) > 1 or (lengths and codings):
        raise AmbiguousRequestError("there is more than one length")
    if lengths and not _LENGTH.fullmatch(lengths[0]):
        raise AmbiguousRequestError("Content-Length must consist of digits only")
    if codings and (old or [coding.lower() for coding in codings] != ["chunked"]):
        raise AmbiguousRequestError("Transfer-Encoding is not chunked, once, in HTTP/1.1")


def check_path(path: str) -> None:
    """Check that a path begins with one slash. Raises AmbiguousRequestError.

    Servers take several slashes for one, or for an empty name; for S3, Swift's proxy fails on them with a traceback.
    """
    if not path.startswith("/") or path.startswith("//"):
        raise AmbiguousRequestError("the path does not begin with one slash")


def is_old(raw: bytes) -> bool:
    """Return whether a head is of HTTP/1.0."""
    return raw.partition(b"\r\n")[0].endswith(_OLD)


class ChunkLines:
    """A connection's file for a server that reads chunks from it; lines between chunks are checked.

    The server calls `readline()` for the line of a size, for the end of a chunk and for trailers; with a number of
    bytes it reads the contents of a chunk. After a refusal, each read raises it again.
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self._left = 0  # bytes left of the present chunk
        self._ends = False  # the line that ends a chunk is next
        self._trailers: int | None = None  # their bytes so far, after the last chunk
        self.refused: AmbiguousRequestError | None = None

    def read(self, size: int = -1) -> bytes:
        """Return bytes of a chunk."""
        return self._of_chunk(self._file.read, size)

    def readline(self, size: int = -1) -> bytes:
        """Return a line of a chunk, of at most `size` bytes; without a size, the next line between chunks. Raises
        AmbiguousRequestError.
        """
        if size is not None and size >= 0:
            return self._of_chunk(self._file.readline, size)
        if self.refused is not None:
            raise self.refused
        line: bytes = self._file.readline(LINE_BYTES_MAX)
        if line:  # otherwise the client disconnected
            try:
                self._check(line)
            except AmbiguousRequestError as refusal:
                self.refused = refusal
                raise
        return line

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def _of_chunk(self, reader: Any, size: int) -> bytes:
        if self.refused is not None:
            raise self.refused
        data: bytes = reader(size)
        self._left -= len(data)
        self._ends = self._left == 0
        return data

    def _check(self, line: bytes) -> None:
        if self._trailers is not None:
            self._trailers += len(line)
            check_head(b"\r\n" + line)
            if self._trailers > TRAILER_BYTES_MAX:
                raise AmbiguousRequestError(f"more than {TRAILER_BYTES_MAX} bytes follow the last chunk")
        elif self._ends:
            if line != b"\r\n":
                raise AmbiguousRequestError("a chunk is longer than its size says")
            self._ends = False
        else:
            found = _CHUNK.fullmatch(line)
            if found is None:
                raise AmbiguousRequestError(
                    "the size of a chunk must be a hexadecimal number, in a line of limited length"
                )
            self._left = int(found[1], 16)
            self._trailers = None if self._left else 0
