"""Forward requests to applications and stream their answers back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import httpx
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from zoe_api.apps.headers import Headers, is_sound, to_application, to_browser
from zoe_api.apps.targets import Target
from zoe_client.http.tls import verification

# Answers may take forever; connecting may not.
_TIMEOUT = httpx.Timeout(None, connect=5.0).as_dict()
_BYTE_BY_BYTE = "latin-1"  # header values pass unchanged, whatever their encoding
_STATUSES = range(200, 600)  # RFC 9110, section 15: other numbers are not status codes, and 1xx is not a final answer
_WITHOUT_BODY = (204, 304)
_BODY_HEADERS = ("content-length", "transfer-encoding")


class BrowserLeft(Exception):  # noqa: N818 - the name is the fact
    """The browser closed its connection before the application began to answer."""


class NoAnswer(Exception):  # noqa: N818 - the name is the fact
    """The application's answer cannot be forwarded."""


class BrokeOff(Exception):  # noqa: N818 - the name is the fact
    """The application ended its answer early. One log line reports it, and the browser's connection ends."""


def has_no_log_line_yet(record: logging.LogRecord) -> bool:
    """Filter uvicorn's log: no stack trace for a connection that ended with BrokeOff, which has a log line already.

    Also drop the error that uvicorn logs for each WebSocket that is answered instead of opened.
    """
    broke_off = record.exc_info is not None and isinstance(record.exc_info[1], BrokeOff)
    return not broke_off and record.msg != "ASGI callable returned without completing handshake."


def new_transport() -> httpx.AsyncHTTPTransport:
    """Return the transport for all applications.

    It is not an httpx client, which would keep cookies and send them to other users and applications, and would follow
    or at least read redirects.
    """
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
    return httpx.AsyncHTTPTransport(verify=verification("http://"), limits=limits, trust_env=False)


async def forward(
    transport: httpx.AsyncHTTPTransport, request: Request, target: Target, request_target: bytes
) -> Response:
    """Return the application's answer to `request_target`.

    Raises httpx.TransportError without an answer, NoAnswer if it is not HTTP, BrowserLeft if the browser has gone."""
    headers = _encode_headers(to_application(_with_one_length(request), target, request.scope["scheme"]))
    # The connection goes to this address, whatever the client wrote; the client's bytes are only a request target
    # there.
    url = httpx.URL(scheme="http", host=target.host, port=target.port, path="/")
    body = _Body(request)
    extensions = {"target": request_target, "timeout": _TIMEOUT}
    upstream = httpx.Request(request.method, url, headers=headers, content=body.stream, extensions=extensions)
    answer = await _answer_or_disconnect(transport.handle_async_request(upstream), body)
    if answer.status_code not in _STATUSES or not is_sound(answer.headers.raw):
        await answer.aclose()
        raise NoAnswer
    response = StreamingResponse(_passed_on(answer), answer.status_code, background=BackgroundTask(answer.aclose))
    answer.headers.encoding = _BYTE_BY_BYTE
    response.raw_headers = _encode_headers(to_browser(_without_length_of_nothing(answer), target))
    return response


async def _passed_on(answer: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for piece in answer.aiter_raw():
            yield piece
    except httpx.TransportError as error:
        raise BrokeOff(str(error) or type(error).__name__) from None


def _with_one_length(request: Request) -> Headers:
    """Drop a length next to chunked encoding, which overrides it (RFC 9112, 6.3), so that the application sees only
    one."""
    chunked = "transfer-encoding" in request.headers
    return ((name, value) for name, value in request.headers.items() if not (chunked and name == "content-length"))


def _without_length_of_nothing(answer: httpx.Response) -> Headers:
    """Drop the length of a missing body: some servers would wait for that many bytes (RFC 9110, 8.6)."""
    has_body = answer.status_code not in _WITHOUT_BODY
    return ((k, v) for k, v in answer.headers.multi_items() if has_body or k.lower() != "content-length")


def _encode_headers(headers: Headers) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(_BYTE_BY_BYTE), value.encode(_BYTE_BY_BYTE)) for name, value in headers]


class _Body:
    """Stream a request's body, and detect that the browser left, which is only reported after the body."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._sent = asyncio.Event()
        has_body = any(name in request.headers for name in _BODY_HEADERS)
        self.stream = self._pieces() if has_body else None
        if not has_body:
            self._sent.set()

    async def wait_for_disconnect(self) -> None:
        """Return when the browser has closed its connection, which is visible only after its body was forwarded."""
        await self._sent.wait()
        while (await self._request.receive())["type"] != "http.disconnect":
            pass

    async def _pieces(self) -> AsyncIterator[bytes]:
        async for piece in self._request.stream():
            yield piece
        self._sent.set()


async def _answer_or_disconnect(sending: Coroutine[Any, Any, httpx.Response], body: _Body) -> httpx.Response:
    """Return the answer; abandon an application that does not answer after the browser has left."""
    answer, departure = asyncio.create_task(sending), asyncio.create_task(body.wait_for_disconnect())
    try:
        await asyncio.wait((answer, departure), return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            return answer.result()
        raise BrowserLeft
    finally:
        for task in (answer, departure):
            task.cancel()
        await asyncio.gather(answer, departure, return_exceptions=True)
