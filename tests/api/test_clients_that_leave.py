"""Clients that do not read, and clients that close their sending side: a waiting client gets its answer, and no client
holds a connection for ever.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from tests.support.guarded import BOUNDS, PROTOCOLS, WRITE_S, Guarded
from tests.support.proxied import UPGRADE
from tests.support.waiting import until
from zoe_api.http.serving.connections import HALF_CLOSED_S

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
MUCH = 64 << 20


async def large(scope: Scope, _receive: Receive, send: Send) -> None:
    """Much more than sockets of both sides hold, in one piece."""
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % MUCH)]})
        await send({"type": "http.response.body", "body": b"x" * MUCH})


async def stream(scope: Scope, receive: Receive, send: Send) -> None:
    """Much more than sockets of both sides hold, in many pieces, over HTTP or a WebSocket."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        for _ in range(MUCH // 100_000):
            await send({"type": "websocket.send", "bytes": b"x" * 100_000})
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(MUCH // 100_000):
            await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})


async def patient(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers when the test says so, or when its client has left."""
    if scope["type"] != "http":
        return
    if scope["path"] == "/never":
        while (await receive())["type"] != "http.disconnect":
            pass
        LEFT.append(scope["path"])
        return
    while not TOLD:
        await asyncio.sleep(0.001)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"6")]})
    await send({"type": "http.response.body", "body": b"answer"})


LEFT: list[str] = []
TOLD: list[bool] = []


@pytest.fixture(params=PROTOCOLS)
def serve(request: pytest.FixtureRequest) -> Iterator[Callable[[Any], Guarded]]:
    made: list[Guarded] = []

    def make(app: Any) -> Guarded:
        made.append(Guarded(str(request.param), app, BOUNDS))
        return made[-1]

    yield make
    for guarded in made:
        guarded.close()


def unsent(server: Guarded) -> int:
    return sum(exchange.unsent() for exchange in server.connections.exchanges)


WEBSOCKET = GET[:-2] + UPGRADE + b"\r\n"


@pytest.mark.parametrize(("app", "request_"), [(large, GET), (stream, GET), (stream, WEBSOCKET)])
def test_one_that_does_not_read_is_ended(serve: Any, app: Any, request_: bytes) -> None:
    server = serve(app)
    client = server.connect()
    client.sendall(request_)
    until(lambda: unsent(server) > 0)
    server.tick()
    server.tick(WRITE_S - 2)
    assert server.connections.open == 1
    server.tick(3)
    until(lambda: server.connections.open == 0)


def test_one_that_reads_slowly_gets_all(serve: Any) -> None:
    server = serve(large)
    client = server.connect()
    client.sendall(GET)
    got, before = 0, 0
    until(lambda: unsent(server) > 0)
    while got < MUCH:
        while got < min(before + (8 << 20), MUCH):
            piece = client.recv(1 << 20)
            assert piece, got
            got += len(piece)
        before = got
        server.tick(WRITE_S - 1)
    assert got >= MUCH


def test_a_quiet_stream_that_took_all_is_left_open(serve: Any) -> None:
    async def quiet(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"open", "more_body": True})
            await receive()
            await receive()

    server = serve(quiet)
    client = server.connect()
    client.sendall(GET)
    assert client.recv(100)
    for _ in range(5):
        server.tick(WRITE_S)
    assert server.connections.open == 1


@pytest.mark.parametrize("requests", [1, 3])
def test_one_that_has_said_all_is_answered(serve: Any, requests: int) -> None:
    server = serve(patient)
    TOLD.clear()
    client = server.connect()
    client.sendall(GET * requests)
    client.shutdown(socket.SHUT_WR)
    server.tick(0.0)
    TOLD.append(True)
    client.settimeout(60)
    got = b""
    while piece := client.recv(65536):
        got += piece
    assert got.count(b"200 OK") == got.count(b"answer") == requests
    until(lambda: server.connections.open == 0)


def test_one_that_breaks_off_its_request_is_not(serve: Any) -> None:
    server = serve(patient)
    client = server.connect()
    client.sendall(GET[:-2])
    client.shutdown(socket.SHUT_WR)
    assert client.recv(100) == b""
    until(lambda: server.connections.open == 0)


def test_one_that_has_left_costs_its_answer_a_few_seconds(serve: Any) -> None:
    server = serve(patient)
    LEFT.clear()
    client = server.connect()
    client.sendall(GET.replace(b"/ ", b"/never ", 1))
    until(lambda: server.connections.open == 1)
    server.tick()
    client.close()
    until(lambda: any(exchange.half_closed_since_s is not None for exchange in server.connections.exchanges))
    server.tick(HALF_CLOSED_S - 1)
    assert not LEFT
    server.tick(1)
    until(lambda: LEFT)
    assert server.connections.open == 0
