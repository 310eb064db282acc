"""Refuses what pages of other origins ask for: applications run code of their own in the same browser."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from zoe_api.addresses import parts_of
from zoe_api.codes import Code
from zoe_api.problems import problem, refuse_unread

_LONE = ("cross-site", "same-site")


class OriginDoor:
    """ASGI middleware: whoever names an origin must name this one. Programs name none and pass."""

    def __init__(self, app: ASGIApp, prefixes: tuple[str, ...]) -> None:
        self._app = app
        self._prefixes = prefixes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "http" and scope["path"].startswith(self._prefixes) and foreign(Headers(scope=scope)):
            await refuse_unread(problem(Code.FOREIGN_ORIGIN, path=scope["path"]), scope, receive, send)
        else:
            await self._app(scope, receive, send)


def foreign(headers: Headers) -> bool:
    """Whether a page of another origin asks.

    By name and port; the scheme is not compared, as a proxy in front may speak another one.
    """
    origin = headers.get("origin")
    if origin is None:
        return headers.get("sec-fetch-site") in _LONE and headers.get("sec-fetch-mode") != "navigate"
    named = parts_of(origin)
    return named is None or named.netloc.lower() != headers.get("host", "").lower()
