"""Heads of requests, and data that is not a request: one limit however it arrives, and refusals in the form of all
others.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest
from starlette.responses import PlainTextResponse

from tests.support.guarded import PROTOCOLS, Guarded
from tests.support.proxied import UPGRADE
from zoe_api.http.serving.connections import Bounds
from zoe_api.http.serving.heads import HEAD_BYTES_MAX, HeadDoor

WIDE = Bounds(in_all=100, of_address=100)


@pytest.fixture(params=PROTOCOLS)
def server(request: pytest.FixtureRequest) -> Iterator[Guarded]:
    made = Guarded(str(request.param), HeadDoor(PlainTextResponse("here")), WIDE)
    yield made
    made.close()


def head(size: int, shape: str, upgrade: bytes = b"") -> bytes:
    """One of exactly so many bytes."""
    begun = b"GET / HTTP/1.1\r\nHost: x\r\n" + upgrade
    left = size - len(begun) - len(b"\r\n")
    if shape == "one header":
        return begun + b"X: " + b"y" * (left - 5) + b"\r\n\r\n"
    line = b"Cookie: a=" + b"b" * 88 + b"\r\n"
    count, rest = divmod(left - 20, len(line))
    return begun + line * count + b"X: " + b"y" * (rest + 15) + b"\r\n\r\n"


def told(server: Guarded, sent: bytes, piece: int) -> tuple[int, dict[str, object]]:
    """Return the status, and the problem if it is one; the data is sent in pieces that the server reads one by one."""
    client = server.connect()
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        for begin in range(0, len(sent), piece):
            client.sendall(sent[begin : begin + piece])
            if len(sent) > piece:
                server.tick(0.0)
    except OSError:
        pass  # it has answered before the end
    return read(client)


def read(client: socket.socket) -> tuple[int, dict[str, object]]:
    answer = b""
    client.settimeout(10)
    while (piece := client.recv(65536)) and b"\r\n\r\nhere" not in answer + piece:
        answer += piece
    begun, _, body = (answer + piece).partition(b"\r\n\r\n")
    if b"application/problem+json" not in begun:
        return int(begun.split(b" ")[1]), {}
    problem = json.loads(body)
    assert problem["status"] == int(begun.split(b" ")[1])
    assert {"type", "title", "code", "detail", "hint"} <= set(problem)
    return problem["status"], problem


SIZES = [15_000, 17_000, HEAD_BYTES_MAX - 1, HEAD_BYTES_MAX, HEAD_BYTES_MAX + 1, 100_000, 140_000, 300_000]


@pytest.mark.parametrize("upgrade", [b"", UPGRADE], ids=["request", "WebSocket"])
@pytest.mark.parametrize("shape", ["one header", "many headers"])
@pytest.mark.parametrize("size", SIZES)
def test_a_head_is_taken_or_refused_by_its_size_alone(server: Guarded, size: int, shape: str, upgrade: bytes) -> None:
    sent = head(size, shape, upgrade)
    assert len(sent) == size
    expected = 200 if size <= HEAD_BYTES_MAX else 431
    for piece in (size, 10_000):
        status, problem = told(server, sent, piece)
        assert (status, problem.get("code")) == (expected, None if expected == 200 else "head_too_large"), piece


NOT_HTTP = {
    "no line of HTTP": b"hello\r\n\r\n",
    "a header without a colon": b"GET / HTTP/1.1\r\nHost x\r\n\r\n",
    "a length that is none": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 40 + b"\r\n\r\n",
    "a handshake with a body": b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n" + UPGRADE + b"\r\n",
}


@pytest.mark.parametrize("sent", NOT_HTTP.values(), ids=NOT_HTTP)
def test_data_that_is_not_http_is_refused(server: Guarded, sent: bytes) -> None:
    status, problem = told(server, sent, len(sent))
    assert (status, problem["code"]) == (400, "not_http")


def test_late_head_is_refused_as_too_slow(server: Guarded) -> None:
    client = server.connect()
    client.sendall(b"GET /")
    server.tick()
    server.tick(WIDE.head_s + 1)
    status, problem = read(client)
    assert (status, problem["code"]) == (408, "too_slow")


def test_one_connection_too_many_is_told_so(server: Guarded) -> None:
    server.connections.bounds = Bounds(in_all=0)
    status, problem = read(server.connect())
    assert (status, problem["code"]) == (503, "too_many_connections")
