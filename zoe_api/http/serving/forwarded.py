"""Trust the browser's address and scheme as reported by trusted proxies (`X-Forwarded-For`, `X-Forwarded-Proto`).

uvicorn accepts the scheme in lower case only, and no list. Proxies also write `HTTPS`, or `https, http` if there are
two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

_FOR, _PROTO = b"x-forwarded-for", b"x-forwarded-proto"
_SCHEMES = (b"http", b"https", b"ws", b"wss")


class ForwardedDoor:
    """ASGI middleware, outermost: sets address and scheme of the browser."""

    def __init__(self, app: ASGIApp, trusted: Sequence[str]) -> None:
        inner: Any = app  # uvicorn and Starlette have different types for the same thing
        self._proxies = ProxyHeadersMiddleware(inner, list(trusted))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request or WebSocket."""
        if scope["type"] != "lifespan":
            scope = {**scope, "headers": self._with_one_scheme(scope["headers"])}
        whole: Any = (scope, receive, send)
        await self._proxies(*whole)

    def _with_one_scheme(self, headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        schemes = [value.lower() for value in _header_values(headers, _PROTO)]
        others = [(name, value) for name, value in headers if name != _PROTO]
        # Each proxy appends the address and scheme of its peer: the valid scheme has the same position from the end as
        # the browser's address.
        between = 0
        for address in reversed(_header_values(headers, _FOR)):
            if address.decode("latin-1") not in self._proxies.trusted_hosts:
                break
            between += 1
        scheme = schemes[-1 - min(between, len(schemes) - 1)] if schemes else b""
        return [*others, (_PROTO, scheme)] if scheme in _SCHEMES else others


def _header_values(headers: Sequence[tuple[bytes, bytes]], header: bytes) -> list[bytes]:
    """Return all values of all lines, without blank ones (RFC 9110, 5.6.1)."""
    parts = (part.strip() for name, value in headers if name == header for part in value.split(b","))
    return [part for part in parts if part]
