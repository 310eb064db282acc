"""Route requests: host names below the domain of applications go to the applications, all others to the API."""

from __future__ import annotations

import logging
from contextlib import ExitStack

import httpx
import structlog
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketState
from websockets.exceptions import WebSocketException

from zoe_api.apps import forwarding, pages, sockets
from zoe_api.apps.access import ENTRANCE, Accesses
from zoe_api.apps.activity import Activity, is_use, is_use_of_socket
from zoe_api.apps.ended import is_over, page_of, zoe_url_of
from zoe_api.apps.port_numbers import read_label
from zoe_api.apps.request_target import origin_form
from zoe_api.apps.targets import Target, Targets
from zoe_api.http.addresses import host_name
from zoe_api.http.origins import foreign
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem, problem, problem_response, refuse_unread
from zoe_api.services.stream_places import StreamPlaces
from zoe_lib.domain.executions.execution import ExecutionId
from zoe_lib.messaging.client import MasterClient, MasterUnreachable
from zoe_lib.store.errors import NotFound, StoreUnavailable
from zoe_lib.store.people import AppAccess
from zoe_lib.store.postgres.store import PostgresStore

log = structlog.get_logger(__name__)

_LEFT = 499  # the status that nginx logs


class AppsMiddleware:
    """ASGI middleware, outermost: a request to an application meets nothing of the API, not even its cookies."""

    def __init__(
        self,
        app: ASGIApp,
        domain: str,
        store: PostgresStore,
        master: MasterClient,
        lifetime_s: float,
        streams: StreamPlaces,
        public_url: str | None,
    ) -> None:
        self._app = app
        self._store = store
        self._domain, self._public_url = domain, public_url
        self._streams = streams
        logging.getLogger("uvicorn.error").addFilter(forwarding.has_no_log_line_yet)
        self._suffix = f".{domain}".lower()
        self._accesses = Accesses(store.accounts, lifetime_s)
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
        request_target = origin_form(scope)
        if request_target is None:
            await _refuse(scope, receive, send, "the request target must be a path that begins with a slash")
            return
        name = host_name(Headers(scope=scope).get("host", ""))
        if name is None:
            await _refuse(scope, receive, send, "the header Host is not a host name")
            return
        if not name.endswith(self._suffix):
            await self._app(scope, receive, send)
            return
        execution_id, number = read_label(name.removesuffix(self._suffix))
        if scope["type"] == "http":
            with ExitStack() as held:
                try:
                    answer = await self._answer(Request(scope, receive), request_target, execution_id, number, held)
                except ApiProblem as refused:
                    answer = problem_response(refused.for_path(scope["path"]))
                try:
                    await answer(scope, receive, send)
                except forwarding.BrokeOff as error:
                    log.warning("an application ended its answer early", execution=execution_id, why=str(error))
                    raise
        else:
            await self._socket(WebSocket(scope, receive, send), request_target, execution_id, number)

    async def _answer(
        self, request: Request, request_target: bytes, execution_id: ExecutionId, number: int, held: ExitStack
    ) -> Response:
        try:
            if request.scope["path"] == ENTRANCE:
                return await self._enter(request, execution_id, number)
            if foreign(request.scope):
                return pages.foreign()
            access = await self._accesses.find_access(request, execution_id, number)
            if access is None:
                return pages.not_entered()
            held.enter_context(self._streams.request(access.user))
            target = await self._targets.find_target(execution_id, number)
            if target is None:
                return await self._not_running(request, execution_id)
            return await self._forward(request, target, request_target, execution_id, number)
        except (MasterUnreachable, StoreUnavailable):
            return pages.unreachable()

    async def _enter(self, request: Request, execution_id: ExecutionId, number: int) -> Response:
        """Take the ticket before any other query: a client without one learns nothing, and costs one query."""
        if request.method != "GET":  # such as HEAD, which programs use to check a link without following it
            return pages.only_get()
        secret = await self._accesses.take_ticket(request, execution_id, number)
        if secret is None:
            return pages.ticket_used()
        try:
            target = await self._targets.find_target(execution_id, number)
        except (MasterUnreachable, StoreUnavailable):
            target = None  # the ticket is used up; once the master is back, the cookie admits the browser
        return self._accesses.enter_application(request, secret, "/" if target is None else target.path)

    async def _forward(
        self, request: Request, target: Target, request_target: bytes, execution_id: ExecutionId, number: int
    ) -> Response:
        if self._transport is None:
            self._transport = forwarding.new_transport()
        if is_use(request):
            await self._activity.record_use(execution_id)
        try:
            return await forwarding.forward(self._transport, request, target, request_target)
        except forwarding.NoAnswer:
            return pages.no_answer()
        except forwarding.BrowserLeft:
            return Response(status_code=_LEFT)  # a body that will not be read
        except httpx.TransportError:
            self._targets.doubt(execution_id, number)
            return await self._not_running(request, execution_id, alive=True)

    async def _not_running(self, request: Request, execution_id: ExecutionId, *, alive: bool = False) -> Response:
        """Return the page that says what happened. alive: a service is there, but does not answer."""
        try:
            execution = await run_in_threadpool(self._store.execution, execution_id)
        except NotFound:
            return pages.not_running()
        if alive and not is_over(execution):
            return pages.unreachable()
        return page_of(execution, zoe_url_of(request, self._domain, self._public_url))

    async def _socket(self, browser: WebSocket, request_target: bytes, execution_id: ExecutionId, number: int) -> None:
        async def access() -> AppAccess | None:
            return await self._accesses.find_access(browser, execution_id, number)

        async def used(message: str | bytes) -> None:
            if is_use_of_socket(browser.url.path, message):
                await self._activity.record_use(execution_id)

        try:
            # A browser always sends the origin of a WebSocket; a client without an origin is not a browser and has no
            # cookie.
            app_access = None if foreign(browser.scope) else await access()
            if app_access is None:
                raise ApiProblem(Code.SOCKET_REFUSED, hint="open the application from Zoe")
            with self._streams.stream(app_access.user, app_access.session_id or app_access.token_id or ""):
                target = await self._targets.find_target(execution_id, number)
                if target is None:
                    raise ApiProblem(Code.SOCKET_REFUSED, "the application is not running")
                await sockets.forward(browser, target, request_target, access, used)
        except ApiProblem as refused:
            await _end(browser, refused)
        except (OSError, WebSocketException, MasterUnreachable, StoreUnavailable):
            self._targets.doubt(execution_id, number)
            await _end(browser, ApiProblem(Code.SOCKET_REFUSED, "the application refuses the WebSocket"))


async def _end(browser: WebSocket, refused: ApiProblem) -> None:
    """Answer the handshake with the refusal, then close."""
    if browser.application_state is WebSocketState.CONNECTING:
        await problem_response(refused.for_path(browser.url.path))(browser.scope, browser.receive, browser.send)
    else:
        await browser.close(sockets.TRY_AGAIN)


async def _refuse(scope: Scope, receive: Receive, send: Send, why: str) -> None:
    """Answer 400 to a request without a valid path or host, which neither an application nor the API could
    interpret.
    """
    await refuse_unread(problem(Code.HTTP_ERROR, why, path=scope["path"]), scope, receive, send)
