"""An OpenID Connect provider that redirects browsers to an honest one, and records the requests it gets."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route


class LyingProvider:
    """`url` is where it is served. `onward`: the authorization endpoint of the honest provider, and changed parameters
    of the request.
    """

    def __init__(self) -> None:
        self.url = ""
        self.onward = ""
        self.instead: Mapping[str, str] = {}
        self.sent: list[Mapping[str, str]] = []
        self.app = Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._published),
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
            ]
        )

    async def _published(self, _: Request) -> Response:
        paths = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "jwks"}
        return JSONResponse({"issuer": self.url, **{name: f"{self.url}/{path}" for name, path in paths.items()}})

    async def _authorize(self, request: Request) -> Response:
        return RedirectResponse(f"{self.onward}?{urlencode({**request.query_params, **self.instead})}", 302)

    async def _token(self, request: Request) -> Response:
        form = await request.form()
        self.sent.append({name: str(value) for name, value in form.items()})
        return JSONResponse({"error": "invalid_grant"}, 400)
