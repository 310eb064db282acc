"""Swift's HTTP protocol with the raw head of each request, for the filter `zoe_framing`.

Python's header parser takes a carriage return for the end of a line, and drops everything after an invalid line; the
parsed head shows neither.
"""

from __future__ import annotations

from typing import Any

from swift.common import wsgi
from swift.common.http_protocol import SwiftHttpProtocol

HEAD = "zoe.head"


class _Noting:
    """A connection's file that records the lines that are read."""

    def __init__(self, file: Any, lines: list[bytes]) -> None:
        self._file, self._lines = file, lines

    def readline(self, *size: int) -> bytes:
        line: bytes = self._file.readline(*size)
        self._lines.append(line)
        return line


class RawHeads(SwiftHttpProtocol):  # type: ignore[misc]
    """Swift's protocol; eventlet bounds a head before it is recorded."""

    rfile: Any
    _lines: list[bytes]

    def parse_request(self) -> bool:
        """Record the lines of the head while they are parsed."""
        file, self._lines = self.rfile, [self.raw_requestline]
        self.rfile = _Noting(file, self._lines)
        try:
            parsed: bool = super().parse_request()
        finally:
            self.rfile = file
        return parsed

    def get_environ(self, *arguments: Any, **named: Any) -> dict[str, Any]:
        """Return the environment of the request, with its head."""
        environ: dict[str, Any] = super().get_environ(*arguments, **named)
        environ[HEAD] = b"".join(self._lines)
        return environ


def serve_raw_heads() -> None:
    """Make `run_wsgi` of this process use this protocol, for which Swift has no setting. A Swift that expects the PROXY
    protocol keeps its own.
    """
    wsgi.SwiftHttpProtocol = RawHeads
