"""A client or a proxy that uses a connection again as soon as it has the whole of an answer."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from contextvars import ContextVar

import pytest
from starlette.types import Receive, Scope, Send
from websockets.sync.client import connect

from tests.support.guarded import BOUNDS, PROTOCOLS
from tests.support.manual_clock import ManualClock
from tests.support.proxied import UPGRADE
from tests.support.serving import Served
from tests.support.waiting import until
from zoe_api.http.serving.connections import Connections
from zoe_api.http.serving.guarded import guarded_protocol

ASKED = ContextVar("asked", default="by nobody")
IDLE_S = 1
_ENDS_IN_S = 0.2
HANDSHAKE = b"GET / HTTP/1.1\r\nHost: x\r\n" + UPGRADE + b"\r\n"


class Ends:
    """Answers in full, and continues until the test ends it; its WebSockets echo."""

    def __init__(self) -> None:
        self.told = False

    def end(self) -> None:
        self.told = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            ASKED.set("by the request before")
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"6")]})
            await send({"type": "http.response.body", "body": b"answer", "more_body": True})
            while not self.told:
                await asyncio.sleep(0.01)
            await send({"type": "http.response.body", "body": b""})
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.send", "text": ASKED.get()})
            while (message := await receive())["type"] == "websocket.receive":
                await send({"type": "websocket.send", "text": message["text"]})


@pytest.fixture
def application() -> Ends:
    return Ends()


@pytest.fixture
def connections() -> Connections:
    return Connections(BOUNDS, ManualClock(0.0))


@pytest.fixture(params=list(PROTOCOLS))
def client(request: pytest.FixtureRequest, application: Ends, connections: Connections) -> Iterator[socket.socket]:
    """One that has read an answer whose end the server has not told yet."""
    protocol = guarded_protocol(PROTOCOLS[request.param], connections)
    server = Served(application, http=protocol, timeout_keep_alive=IDLE_S)
    try:
        with socket.create_connection(("127.0.0.1", server.port), 60) as made:
            made.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            said = b""
            while not said.endswith(b"answer"):
                said += made.recv(65536)
            yield made
        until(lambda: connections.open == 0)
    finally:
        application.end()
        server.close()


def test_a_websocket_begins_when_the_answer_before_has_ended_and_is_not_idle(
    client: socket.socket, application: Ends
) -> None:
    threading.Timer(_ENDS_IN_S, application.end).start()
    began_s = time.monotonic()
    with connect("ws://x/", sock=client, proxy=None) as talk:
        assert time.monotonic() >= began_s + _ENDS_IN_S / 2
        assert talk.recv(10) == "by nobody"  # its log lines are not those of another's request
        time.sleep(IDLE_S + 0.5)
        talk.send("still here")
        assert talk.recv(10) == "still here"


def test_client_that_leaves_during_the_handshake_frees_its_place(
    client: socket.socket, application: Ends, connections: Connections
) -> None:
    client.sendall(HANDSHAKE)
    time.sleep(0.1)
    assert connections.open == 1
    client.close()
    application.end()


def test_client_that_sends_during_the_handshake_frees_its_place(
    client: socket.socket, application: Ends, connections: Connections
) -> None:
    """A request in its place would take over the state of the handshake."""
    client.sendall(HANDSHAKE)
    time.sleep(0.1)
    client.sendall(b"GET /c HTTP/1.1\r\nHost: x\r\n\r\n")
    time.sleep(0.1)
    application.end()
    with suppress(ConnectionError):
        while client.recv(65536):
            pass
