"""Requests passed on to applications, and their answers back, both as streams."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from zoe_api.apps.headers import Headers, to_application, to_browser
from zoe_api.apps.targets import Target
from zoe_lib.tls import verification

_CONNECT_S = 5.0
_BYTE_BY_BYTE = "latin-1"  # what is in a header passes as it is, in whatever encoding it was written
_WITHOUT_BODY = ("GET", "HEAD", "OPTIONS")


def new_client() -> httpx.AsyncClient:
    """For all applications. Answers may take for ever; a connection may not."""
    return httpx.AsyncClient(
        verify=verification("http://"),
        timeout=httpx.Timeout(None, connect=_CONNECT_S),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=100),
        trust_env=False,
        follow_redirects=False,
    )


async def forward(client: httpx.AsyncClient, request: Request, target: Target, wanted: bytes) -> Response:
    """Return the application's answer to the request target `wanted`; httpx.TransportError when there is none."""
    headers = _encoded(to_application(request.headers.items(), target, request.scope["scheme"]))
    # The connection goes to this address, whatever the client wrote; its bytes are a target there and nothing else.
    url = httpx.URL(scheme="http", host=target.host, port=target.port, path="/")
    body = None if request.method in _WITHOUT_BODY else _body(request)
    extensions = {"target": wanted}
    upstream = client.build_request(request.method, url, headers=headers, content=body, extensions=extensions)
    if "accept-encoding" not in request.headers:
        upstream.headers["accept-encoding"] = "identity"
    answer = await client.send(upstream, stream=True)
    response = StreamingResponse(answer.aiter_raw(), answer.status_code, background=BackgroundTask(answer.aclose))
    answer.headers.encoding = _BYTE_BY_BYTE
    response.raw_headers = _encoded(to_browser(answer.headers.multi_items(), target))
    return response


def _encoded(headers: Headers) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(_BYTE_BY_BYTE), value.encode(_BYTE_BY_BYTE)) for name, value in headers]


async def _body(request: Request) -> AsyncIterator[bytes]:
    async for piece in request.stream():
        yield piece
