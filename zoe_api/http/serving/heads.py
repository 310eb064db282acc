"""One limit on the head of a request, however it arrives; parsers check incomplete heads only."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.types import ASGIApp, Receive, Scope, Send

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import problem, refuse_unread
from zoe_client.wire import Problem

HEAD_BYTES_MAX = 65536
"""Browsers send at most 180 cookies of a domain, which applications on the same host can set; ours take 12 KiB."""
READ_BYTES_MAX = 2 * HEAD_BYTES_MAX
"""Maximum bytes kept of an incomplete head. It exceeds the limit above, which therefore alone decides about a head that
is not padded with blanks.
"""


class HeadDoor:
    """ASGI middleware, outermost: refuses a request with a larger head (431). Larger handshakes never get here."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "http" and is_too_large(scope["method"], _target(scope), scope["headers"]):
            await refuse_unread(too_large(), scope, receive, send)
        else:
            await self._app(scope, receive, send)


def too_large() -> Problem:
    """Return the refusal."""
    return problem(Code.HEAD_TOO_LARGE, f"request line and headers may have at most {HEAD_BYTES_MAX} bytes")


def is_too_large(method: str, target: bytes, headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether the head is beyond the limit, counting one space after each colon, whatever the client wrote."""
    line = len(f"{method}  HTTP/1.1\r\n\r\n") + len(target)
    return line + sum(len(name) + len(value) + len(": \r\n") for name, value in headers) > HEAD_BYTES_MAX


def _target(scope: Scope) -> bytes:
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope["query_string"]
    return path + b"?" + query if query else path
