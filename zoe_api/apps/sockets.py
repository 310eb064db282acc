"""Forward WebSockets to applications, message by message."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState
from websockets.asyncio.client import ClientConnection
from websockets.client import ClientProtocol
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol
from websockets.uri import WebSocketURI

from zoe_api.apps.headers import to_application
from zoe_api.apps.targets import Target
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.store.errors import StoreUnavailable

_OPEN_S = 10.0
# A message is assembled before it is forwarded. The maximum is uvicorn's for browsers.
MESSAGE_BYTES_MAX = 16 << 20
# A socket lives for hours; after a sign-out it closes within this time.
_CHECK_S = 15.0
# How long sockets stay open while the database cannot check them; the kernels behind them continue to work.
_UNKNOWN_S = 60.0
GONE = 1001
REFUSED = 1008
TRY_AGAIN = 1013
_RESERVED_CODES = (1005, 1006, 1015)  # must not be sent in a close frame


async def forward(
    browser: WebSocket,
    target: Target,
    request_target: bytes,
    allowed: Callable[[], Awaitable[object]],
    used: Callable[[str | bytes], Awaitable[None]],
) -> None:
    """Forward messages until one side ends the socket; OSError or WebSocketException if the application refuses.

    `used` is called with each message from the browser."""
    headers = [
        (name, value)
        for name, value in to_application(browser.headers.items(), target, browser.scope["scheme"])
        if name != "Host"  # the library sends it
    ]
    async with _open_socket(
        target, request_target.decode("ascii"), headers, browser.scope["subprotocols"]
    ) as application:
        await browser.accept(application.subprotocol)
        ways = (_up(browser, application, used), _down(browser, application), _watch(allowed))
        tasks = [asyncio.create_task(way) for way in ways]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await _close(browser, application, _code(tasks[2]))


@asynccontextmanager
async def _open_socket(
    target: Target, request_target: str, headers: Iterable[tuple[str, str]], subprotocols: Iterable[str]
) -> AsyncIterator[ClientConnection]:
    """Connect to the application's own address.

    The library's `connect` takes one URL for both address and request target, and follows redirects to other hosts.
    """
    uri = WebSocketURI(secure=False, host=target.host, port=target.port, path=request_target, query="")
    protocol = ClientProtocol(
        uri, subprotocols=[Subprotocol(name) for name in subprotocols] or None, max_size=MESSAGE_BYTES_MAX
    )
    async with asyncio.timeout(_OPEN_S):
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: ClientConnection(protocol, ping_interval=None), target.host, target.port
        )
        try:
            await connection.handshake(list(headers), None)
        except BaseException:
            connection.transport.abort()
            raise
    async with connection:
        yield connection


async def _up(
    browser: WebSocket, application: ClientConnection, used: Callable[[str | bytes], Awaitable[None]]
) -> None:
    with suppress(WebSocketDisconnect, ConnectionClosed):
        while True:
            message = await browser.receive()
            if message["type"] == "websocket.disconnect":
                return
            text = message.get("text")
            content = message["bytes"] if text is None else text
            await used(content)
            await application.send(content)


async def _down(browser: WebSocket, application: ClientConnection) -> None:
    with suppress(WebSocketDisconnect, ConnectionClosed, RuntimeError):
        async for message in application:
            await (browser.send_text(message) if isinstance(message, str) else browser.send_bytes(message))


async def _watch(allowed: Callable[[], Awaitable[object]], clock: Clock = SYSTEM_CLOCK) -> None:
    """Return when access is no longer allowed; StoreUnavailable if it could not be checked for too long."""
    known_s = clock.monotonic_s()
    while True:
        try:
            if not await allowed():
                return
            known_s = clock.monotonic_s()
        except StoreUnavailable:
            if clock.monotonic_s() >= known_s + _UNKNOWN_S:
                raise
        await asyncio.sleep(_CHECK_S)


def _code(watch: asyncio.Task[None]) -> int | None:
    """Return the close code for the end of the watch; None if the watch did not end the socket."""
    if watch.cancelled():
        return None
    return REFUSED if watch.exception() is None else TRY_AGAIN


async def _close(browser: WebSocket, application: ClientConnection, code: int | None) -> None:
    if browser.application_state is WebSocketState.CONNECTED and browser.client_state is WebSocketState.CONNECTED:
        close_code = code or application.close_code or GONE
        with suppress(RuntimeError, WebSocketDisconnect):
            await browser.close(GONE if close_code in _RESERVED_CODES else close_code, application.close_reason or "")
