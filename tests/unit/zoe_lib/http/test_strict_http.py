"""The HTTP protocol of API and controller, over a transport that only remembers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from tests.support.framing import CASES, is_refused, request
from zoe_lib.http.strict_http import UNREAD_BYTES_MAX, StrictHttp


class Line(asyncio.Transport):
    """The sent data, and whether the connection is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.closed = self.closed_by_server = False

    def write(self, data: Any) -> None:
        if not self.closed:
            self.sent += bytes(data)

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


async def answered(scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
    while (await receive()).get("more_body"):
        pass
    assert all(value == value.strip() for _, value in scope["headers"])
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


def exchanged(*pieces: bytes) -> Line:
    async def run() -> Line:
        config = uvicorn.Config(answered, log_config=None, access_log=False)
        config.load()
        protocol, line = StrictHttp(config, ServerState(), {}), Line()
        protocol.connection_made(line)
        for piece in pieces:
            if not line.closed:
                protocol.data_received(piece)
            await asyncio.sleep(0)
        line.closed_by_server = line.closed
        protocol.connection_lost(None)  # which closes, too
        await asyncio.gather(*protocol.tasks)
        return line

    return asyncio.run(run())


@pytest.mark.parametrize("name", CASES)
def test_a_request_with_two_readings_is_refused_and_the_next_one_unread(name: str) -> None:
    line = exchanged(request(name))
    assert line.closed_by_server
    assert is_refused(line.sent), line.sent


def test_a_request_with_one_reading_is_answered_and_so_is_the_next() -> None:
    """Also with tabs around the values of headers, which belong to no value (RFC 9110, 5.5)."""
    tabs = b"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length:\t 3\t\r\n\r\nabc"
    assert exchanged(tabs, tabs).sent.count(b"HTTP/1.1 200 OK") == 2
    plain = b"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    line = exchanged(plain, b"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n", b"a" * 200_000)
    assert (line.sent.count(b"HTTP/1.1 200 OK"), line.closed_by_server) == (2, False)


@pytest.mark.parametrize(
    "start",
    [
        b"GET / HTTP/1.1\r\nHost: a\r\n",
        b"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n",
    ],
)
def test_heads_and_trailers_are_bounded(start: bytes) -> None:
    """Trailers were collected without an end."""
    more = [b"X-%d: %s\r\n" % (number, b"a" * 1000) for number in range(UNREAD_BYTES_MAX // 1000 + 2)]
    line = exchanged(start, *more)
    assert line.closed_by_server
    assert b"200 OK" not in line.sent
