"""Requests that trickle, and connections that are too many: ended at a limit, by every parser that uvicorn has here.

Time is the tests': a tick is a second of the server's clock, and one look at late clients.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from tests.support.guarded import BODY_S, BOUNDS, HEAD_S, PROTOCOLS, RATE, Guarded
from tests.support.manual_clock import ManualClock
from tests.support.proxied import DOMAIN, SECRET, UPGRADE, Proxied
from tests.support.waiting import until
from zoe_api.http.serving import connections as connections_module
from zoe_api.http.serving.connections import HALF_CLOSED_S, AcceptTrouble, Bounds, Connections
from zoe_api.http.serving.guarded import guarded_protocol

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\n"


async def reading(scope: Scope, receive: Receive, send: Send) -> None:
    """Reads the body whole, as the API does."""
    if scope["type"] != "http":
        return
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        if not message["more_body"]:
            break
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body"})


async def hasty(scope: Scope, _receive: Receive, send: Send) -> None:
    """Answers before the body is here."""
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})


async def hanging(scope: Scope, receive: Receive, _send: Send) -> None:
    """Does not answer before its client has left."""
    if scope["type"] == "http":
        while (await receive())["type"] != "http.disconnect":
            pass


@pytest.fixture(params=PROTOCOLS)
def parser(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def serve(parser: str) -> Iterator[Callable[..., Guarded]]:
    made: list[Guarded] = []

    def make(app: Any, bounds: Bounds = BOUNDS) -> Guarded:
        made.append(Guarded(parser, app, bounds))
        return made[-1]

    yield make
    for guarded in made:
        guarded.close()


def trickle(server: Guarded, client: socket.socket, data: bytes, ticks_max: int) -> int:
    """Send a byte a tick until the server hangs up; how many ticks that took."""
    client.setblocking(False)
    for ticks in range(ticks_max):
        try:
            client.send(data[ticks : ticks + 1])
        except OSError:
            return ticks
        server.tick()
        if ended(client):
            return ticks + 1
    return ticks_max


def ended(client: socket.socket) -> bool:
    try:
        while client.recv(65536):
            pass
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def answer(client: socket.socket) -> bytes:
    client.settimeout(60)
    return client.recv(65536).split(b"\r\n", 1)[0]


LONG = 200
HEADS = {
    "a line": b"G" + b"E" * LONG,
    "a header": b"GET / HTTP/1.1\r\nX: " + b"y" * LONG,
    "many headers": b"GET / HTTP/1.1\r\n" + b"a:b\r\n" * LONG,
}


@pytest.mark.parametrize("head", HEADS)
def test_a_head_that_trickles_is_ended(serve: Any, head: str) -> None:
    server = serve(reading)
    assert trickle(server, server.connect(), HEADS[head], LONG) <= HEAD_S + 1
    server.tick(HALF_CLOSED_S)  # for clients that may not have read the reason
    until(lambda: server.connections.open == 0)


def test_one_that_sends_nothing_is_ended_and_told(serve: Any) -> None:
    server = serve(reading)
    client = server.connect()
    until(lambda: server.connections.open == 1)
    for _ in range(HEAD_S - 1):
        server.tick()
    assert server.connections.open == 1
    server.tick()
    assert answer(client) == b"HTTP/1.1 408 Request Timeout"
    until(lambda: server.connections.open == 0)


def test_the_second_head_of_a_connection_has_its_own_time(serve: Any) -> None:
    server = serve(reading)
    client = server.connect()
    for _ in range(3):
        client.sendall(GET)
        assert answer(client) == b"HTTP/1.1 200 OK"
        server.tick(HEAD_S * 3)
    assert trickle(server, client, HEADS["a header"], LONG) <= HEAD_S + 1


@pytest.mark.parametrize("framing", [b"Content-Length: 1000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n3e8\r\n"])
def test_a_body_that_trickles_is_ended(serve: Any, framing: bytes) -> None:
    server = serve(reading)
    client = server.connect()
    client.sendall(POST + framing)
    assert trickle(server, client, b"x" * LONG, LONG) <= BODY_S + 3
    assert server.connections.open == 0


def test_a_body_after_another_request_at_once_is_ended_too(serve: Any) -> None:
    server = serve(reading)
    client = server.connect()
    client.sendall(GET + POST + b"Content-Length: 1000\r\n\r\n")
    assert trickle(server, client, b"x" * LONG, LONG) <= BODY_S + 3


def test_trickling_body_after_an_early_answer_is_ended(serve: Any) -> None:
    server = serve(hasty)
    client = server.connect()
    client.sendall(POST + b"Content-Length: 1000\r\n\r\n")
    assert answer(client) == b"HTTP/1.1 200 OK"
    assert trickle(server, client, b"x" * LONG, LONG) <= HEAD_S + 2


def test_a_body_that_comes_fast_enough_takes_as_long_as_it_takes(serve: Any) -> None:
    server = serve(reading)
    client = server.connect()
    pieces = 5 * BODY_S
    client.sendall(POST + b"Content-Length: %d\r\n\r\n" % (pieces * RATE))
    for _ in range(pieces):
        client.sendall(b"x" * RATE)
        server.tick()
    assert answer(client) == b"HTTP/1.1 200 OK"


def test_an_application_that_takes_its_time_costs_nobody_the_connection(serve: Any) -> None:
    server = serve(hanging)
    client = server.connect()
    client.sendall(GET)
    client.setblocking(False)
    server.tick()
    for _ in range(5 * BODY_S):
        server.tick()
    assert not ended(client)
    assert server.connections.open == 1


def test_a_head_without_an_end_is_ended_by_its_size(serve: Any) -> None:
    server = serve(reading)
    client = server.connect()
    sent = 0
    try:
        client.sendall(b"GET / HTTP/1.1\r\n")
        while sent < 100 << 20:
            client.sendall(b"X: " + b"y" * 4000 + b"\r\n")
            sent += 4000
    except OSError:
        pass
    assert sent < 24 << 20  # what sockets of both sides hold
    until(lambda: server.connections.open == 0)


# -- how many ----------------------------------------------------------------------------------------------------------
def test_connections_of_one_address_are_bounded_and_others_get_in(serve: Any) -> None:
    server = serve(reading)
    mine = [server.connect() for _ in range(BOUNDS.of_address)]
    until(lambda: server.connections.open == BOUNDS.of_address)
    for _ in range(3):
        assert answer(server.connect()) == b"HTTP/1.1 503 Service Unavailable"
    assert server.connections.open == BOUNDS.of_address
    other = server.connect("127.0.0.2")
    other.sendall(GET)
    assert answer(other) == b"HTTP/1.1 200 OK"
    mine[0].close()
    until(lambda: server.connections.open == BOUNDS.of_address)
    again = server.connect()
    again.sendall(GET)
    assert answer(again) == b"HTTP/1.1 200 OK"


def test_connections_are_bounded_in_all_also_those_of_a_proxy(serve: Any) -> None:
    server = serve(reading)
    for _ in range(BOUNDS.in_all):
        server.connect("127.0.0.9")
    until(lambda: server.connections.open == BOUNDS.in_all)
    for source in ("127.0.0.9", "127.0.0.2"):
        assert answer(server.connect(source)) == b"HTTP/1.1 503 Service Unavailable"
    assert server.connections.open == BOUNDS.in_all


def test_a_websocket_has_its_place_until_it_ends(parser: str) -> None:
    """Of the connection that it came on; nothing of it is late."""
    clock = ManualClock(0.0)
    connections = Connections(BOUNDS, clock)
    proxied = Proxied(http=guarded_protocol(PROTOCOLS[parser], connections))
    try:
        names = f"Host: e1.{DOMAIN}\r\nCookie: zoe-app={SECRET}\r\n".encode()
        for _ in range(2 * BOUNDS.of_address):
            with socket.create_connection(("127.0.0.1", proxied.port), 60) as client:
                client.sendall(b"GET / HTTP/1.1\r\n" + names + UPGRADE + b"\r\n")
                assert answer(client) == b"HTTP/1.1 101 Switching Protocols"
            until(lambda: connections.open == 0)
        assert connections.exchanges == set()
    finally:
        proxied.close()


@pytest.mark.parametrize("framing", [b"Content-Length: 1\r\n", b"Transfer-Encoding: chunked\r\n"])
@pytest.mark.parametrize("method", [b"GET", b"POST"])
def test_a_websocket_handshake_with_a_body_is_refused(parser: str, method: bytes, framing: bytes) -> None:
    """The protocol of WebSockets would wait for it without a bound."""
    connections = Connections(BOUNDS, ManualClock(0.0))
    proxied = Proxied(http=guarded_protocol(PROTOCOLS[parser], connections))
    try:
        with socket.create_connection(("127.0.0.1", proxied.port), 60) as client:
            client.sendall(method + b" / HTTP/1.1\r\nHost: localhost\r\n" + framing + UPGRADE + b"\r\n")
            assert answer(client) == b"HTTP/1.1 400 Bad Request"
            assert client.recv(100) == b""
        until(lambda: connections.open == 0)
    finally:
        proxied.close()


def test_addresses_of_version_6_are_counted_by_the_64() -> None:
    connections = Connections(Bounds(in_all=100, of_address=2), ManualClock(0.0))
    connections._sweeping = True  # there is no loop
    assert [connections.enter(f"2001:db8::{n}") for n in range(3)] == [True, True, False]
    assert connections.enter("2001:db8:1::1")
    for n in range(2):
        connections.leave(f"2001:db8::{n}")
    assert connections.enter("2001:db8::9")


def test_failed_accepts_are_told_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ManualClock(0.0)
    others: list[object] = []
    told: list[tuple[str, int]] = []
    log = SimpleNamespace(error=lambda event, *, tries, why: told.append((event, tries)))
    monkeypatch.setattr(connections_module, "log", log)
    trouble = AcceptTrouble(clock)
    loop: Any = SimpleNamespace(default_exception_handler=others.append)
    for second in range(5):
        clock.set(float(second))
        for _ in range(2048):
            trouble(loop, {"message": "socket.accept() out of system resource", "exception": OSError(24, "full")})
    trouble(loop, {"message": "Task exception was never retrieved"})
    assert len(others) == 1
    assert told == [("cannot accept connections", 1), *[("cannot accept connections", 2048)] * 4]
