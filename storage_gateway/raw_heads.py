"""Swift's HTTP protocol, which also hands on the head of each request as it came, for the filter `zoe_framing`.

Python's parser of headers takes a carriage return for the end of a line, and drops what follows a line that it does not
understand; of both, nothing is to be seen in what it made of a head.
"""

from __future__ import annotations

from typing import Any

from swift.common import wsgi
from swift.common.http_protocol import SwiftHttpProtocol

HEAD = "zoe.head"


class _Noting:
    """A connection's file that notes the lines which are read."""

    def __init__(self, file: Any, lines: list[bytes]) -> None:
        self._file, self._lines = file, lines

    def readline(self, *size: int) -> bytes:
        line: bytes = self._file.readline(*size)
        self._lines.append(line)
        return line


class RawHeads(SwiftHttpProtocol):  # type: ignore[misc]
    """Swift's protocol; eventlet bounds a head before it is noted."""

    rfile: Any
    _lines: list[bytes]

    def parse_request(self) -> bool:
        """Note the lines of the head while they are parsed."""
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
    """Let `run_wsgi` of this process serve by this protocol, for which Swift has no setting. A Swift that expects the
    PROXY protocol stays with its own.
    """
    wsgi.SwiftHttpProtocol = RawHeads
