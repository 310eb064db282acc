"""Refuse requests from pages of other origins, since applications run their own code in the same browser."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from zoe_api.http.addresses import parts_of
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import problem, refuse_unread

_LONE = ("cross-site", "same-site")
_PORTS = {"http": 80, "https": 443}
_HINT = "behind a TLS proxy, add the proxy to trusted_proxies, or set public_url"
_Origin = tuple[str, str, int | None]


class OriginMiddleware:
    """ASGI middleware: a request with an origin must have this one. Programs send none and pass."""

    def __init__(self, app: ASGIApp, prefixes: tuple[str, ...], public_url: str | None) -> None:
        self._app = app
        self._prefixes = prefixes
        self._public = None if public_url is None else origin_of(public_url)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "http" and scope["path"].startswith(self._prefixes) and foreign(scope, self._public):
            await refuse_unread(problem(Code.FOREIGN_ORIGIN, hint=_HINT, path=scope["path"]), scope, receive, send)
        else:
            await self._app(scope, receive, send)


def foreign(scope: Scope, public: _Origin | None = None) -> bool:
    """Return whether a page of another origin made the request: another scheme, host or port than those of the request.

    The scheme is the one reported by a trusted proxy, or that of `public` if the request went to that host and port."""
    headers = Headers(scope=scope)
    text = headers.get("origin")
    if text is None:
        return headers.get("sec-fetch-site") in _LONE and headers.get("sec-fetch-mode") != "navigate"
    named, host = origin_of(text), headers.get("host", "")
    seen = scope["scheme"].replace("ws", "http")
    if named is None or named != origin_of(f"{named[0]}://{host}"):
        return True
    return named[0] != seen and named != public


def origin_of(text: str) -> _Origin | None:
    """Return scheme, host and port of an address (RFC 6454); None if they are missing."""
    parts = parts_of(text)
    if parts is None or not parts.scheme or not parts.hostname:
        return None
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)
