"""The first thing a request meets: names below the domain of applications lead to them, all others to the API."""

from __future__ import annotations

import httpx
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket
from websockets.exceptions import WebSocketException

from zoe_api.addresses import host_name
from zoe_api.apps import forwarding, pages, sockets
from zoe_api.apps.access import ENTRANCE, Accesses
from zoe_api.apps.activity import Activity, is_use
from zoe_api.apps.numbers import read_label
from zoe_api.apps.request_target import origin_form
from zoe_api.apps.targets import Target, Targets
from zoe_api.codes import Code
from zoe_api.origins import foreign
from zoe_api.problems import problem, refuse_unread
from zoe_lib.domain.execution import ExecutionId
from zoe_lib.messaging.client import MasterClient, MasterUnreachable
from zoe_lib.store.base import Store, StoreUnavailable

_LEFT = 499  # as nginx logs it


class AppsDoor:
    """ASGI middleware, outermost: nothing of the API, its cookies included, is seen by what goes to an application."""

    def __init__(self, app: ASGIApp, domain: str, store: Store, master: MasterClient, lifetime_s: float) -> None:
        self._app = app
        self._suffix = f".{domain}".lower()
        self._accesses = Accesses(store, lifetime_s)
        self._targets = Targets(store, master)
        self._activity = Activity(store)
        self._transport: httpx.AsyncHTTPTransport | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request or WebSocket."""
        if scope["type"] == "lifespan":
            try:
                await self._app(scope, receive, send)
            finally:
                if self._transport is not None:
                    await self._transport.aclose()
            return
        wanted = origin_form(scope)
        if wanted is None:
            await _refuse(scope, receive, send, "the request target must be a path: it begins with a slash")
            return
        name = host_name(Headers(scope=scope).get("host", ""))
        if name is None:
            await _refuse(scope, receive, send, "the header Host is no name of a host")
            return
        if not name.endswith(self._suffix):
            await self._app(scope, receive, send)
            return
        execution_id, number = read_label(name.removesuffix(self._suffix))
        if scope["type"] == "http":
            answer = await self._answer(Request(scope, receive), wanted, execution_id, number)
            await answer(scope, receive, send)
        else:
            await self._socket(WebSocket(scope, receive, send), wanted, execution_id, number)

    async def _answer(self, request: Request, wanted: bytes, execution_id: ExecutionId, number: int) -> Response:
        try:
            if request.scope["path"] == ENTRANCE:
                return await self._enter(request, execution_id, number)
            if foreign(request.headers):
                return pages.foreign()
            if await self._accesses.of(request, execution_id, number) is None:
                return pages.not_entered()
            target = await self._targets.of(execution_id, number)
            if target is None:
                return pages.not_running()
            return await self._forward(request, target, wanted, execution_id, number)
        except (MasterUnreachable, StoreUnavailable):
            return pages.unreachable()

    async def _enter(self, request: Request, execution_id: ExecutionId, number: int) -> Response:
        """Look nothing up before the ticket was taken: whoever has none learns nothing, and costs one look at it."""
        secret = await self._accesses.take_ticket(request, execution_id, number)
        if secret is None:
            return pages.ticket_used()
        try:
            target = await self._targets.of(execution_id, number)
        except (MasterUnreachable, StoreUnavailable):
            target = None  # the ticket is used; once the master is back, the cookie lets in
        return self._accesses.entered(request, secret, "/" if target is None else target.path)

    async def _forward(
        self, request: Request, target: Target, wanted: bytes, execution_id: ExecutionId, number: int
    ) -> Response:
        if self._transport is None:
            self._transport = forwarding.new_transport()
        if is_use(request):
            await self._activity.seen(execution_id)
        try:
            return await forwarding.forward(self._transport, request, target, wanted)
        except forwarding.NoAnswer:
            return pages.no_answer()
        except forwarding.BrowserLeft:
            return Response(status_code=_LEFT)  # that nobody reads
        except httpx.TransportError:
            self._targets.doubt(execution_id, number)
            return pages.unreachable()

    async def _socket(self, browser: WebSocket, wanted: bytes, execution_id: ExecutionId, number: int) -> None:
        async def allowed() -> bool:
            return await self._accesses.of(browser, execution_id, number) is not None

        try:
            # A browser always names the origin of a WebSocket; one without is not a browser's and has no cookie.
            if foreign(browser.headers) or not await allowed():
                await browser.close(sockets.REFUSED)
                return
            target = await self._targets.of(execution_id, number)
            if target is None:
                await browser.close(sockets.TRY_AGAIN)
                return
            await sockets.forward(browser, target, wanted, allowed, lambda: self._activity.seen(execution_id))
        except (OSError, WebSocketException, MasterUnreachable, StoreUnavailable):
            self._targets.doubt(execution_id, number)
            await browser.close(sockets.TRY_AGAIN)


async def _refuse(scope: Scope, receive: Receive, send: Send, why: str) -> None:
    """Answer 400 to what names no path or no host: neither an application nor the API could tell what is meant."""
    if scope["type"] == "http":
        await refuse_unread(problem(Code.HTTP_ERROR, why, path=scope["path"]), scope, receive, send)
    else:
        await WebSocket(scope, receive, send).close(sockets.REFUSED)
