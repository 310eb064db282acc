"""A WebSocket that threads share: one thread speaks TLS, and no thread waits after its end."""

from __future__ import annotations

import asyncio
import signal
import ssl
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from zoe_client.http import sockets
from zoe_client.http.sockets import ThreadSocket

MESSAGES = [number.to_bytes(4, "big") * 250 for number in range(50)]
USED_BY: set[int] = set()


class NotedObject(ssl.SSLObject):
    """TLS in an event loop; notes which threads use it."""

    def read(self, *arguments: Any) -> Any:
        USED_BY.add(threading.get_ident())
        return super().read(*arguments)

    def write(self, data: Any) -> int:
        USED_BY.add(threading.get_ident())
        return super().write(data)


class NotedSocket(ssl.SSLSocket):
    """The same on a socket."""

    def read(self, *arguments: int) -> bytes:  # type: ignore[override]
        USED_BY.add(threading.get_ident())
        return super().read(*arguments)

    def send(self, *arguments: object) -> int:  # type: ignore[override]
        USED_BY.add(threading.get_ident())
        return super().send(*arguments)  # type: ignore[arg-type]


def context(purpose: int) -> ssl.SSLContext:
    """TLS of two sides without certificates."""
    made = ssl.SSLContext(purpose)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    made.maximum_version = ssl.TLSVersion.TLSv1_2
    made.set_ciphers("AECDH-AES256-SHA:@SECLEVEL=0")
    return made


async def echo(connection: ServerConnection) -> None:
    if connection.request is not None and connection.request.path == "/deaf":
        connection.transport.pause_reading()
        await asyncio.sleep(20)
    async for message in connection:
        await connection.send(message)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Address of a server that echoes."""
    loop, ports = asyncio.new_event_loop(), []

    async def run() -> None:
        async with serve(echo, "127.0.0.1", 0, ssl=context(ssl.PROTOCOL_TLS_SERVER)) as server:
            ports.append(next(iter(server.sockets)).getsockname()[1])
            ready.set()
            await asyncio.get_running_loop().create_future()

    def serving() -> None:
        with pytest.raises(asyncio.CancelledError):
            loop.run_until_complete(task)
        loop.close()

    ready, task = threading.Event(), loop.create_task(run())
    thread = threading.Thread(target=serving)
    thread.start()
    assert ready.wait(60)
    yield f"wss://127.0.0.1:{ports[0]}"
    loop.call_soon_threadsafe(task.cancel)
    thread.join()


@pytest.fixture
def made(address: str) -> Iterator[ThreadSocket]:
    USED_BY.clear()
    client = context(ssl.PROTOCOL_TLS_CLIENT)
    client.sslobject_class, client.sslsocket_class = NotedObject, NotedSocket
    connected = ThreadSocket(address, ssl=client, proxy=None)
    yield connected
    connected.close()


def test_one_thread_speaks_tls_while_others_read_and_write(made: ThreadSocket) -> None:
    heard: list[str | bytes] = []
    reader = threading.Thread(target=lambda: heard.extend(made.receive() for _ in MESSAGES))
    reader.start()
    for message in MESSAGES:
        made.send(message)
    reader.join(60)
    assert heard == MESSAGES
    assert len(USED_BY) == 1
    assert threading.get_ident() not in USED_BY


def test_waiting_reader_is_woken_by_a_close(made: ThreadSocket) -> None:
    learned = []

    def wait() -> None:
        with pytest.raises(ConnectionClosed):
            made.receive()
        learned.append(True)

    reader = threading.Thread(target=wait)
    reader.start()
    made.close()
    reader.join(60)
    assert learned == [True]
    made.close()
    for use in (made.receive, lambda: made.send(b"late")):
        with pytest.raises(ConnectionClosed):
            use()


def test_a_server_that_does_not_read_keeps_nobody(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "_CLOSE_S", 0.3)
    deaf = ThreadSocket(f"{address}/deaf", ssl=context(ssl.PROTOCOL_TLS_CLIENT), proxy=None, compression=None)
    learned: list[type] = []

    def send() -> None:
        try:
            for _ in range(1000):
                deaf.send(bytes(100_000))
        except ConnectionClosed as closed:
            learned.append(type(closed))

    sender = threading.Thread(target=send)
    sender.start()
    time.sleep(0.5)
    assert sender.is_alive()
    began_s = time.monotonic()
    deaf.close()
    assert time.monotonic() - began_s < 10
    sender.join(60)
    assert len(learned) == 1


def test_interrupted_reader_receives_the_next_message(made: ThreadSocket) -> None:
    main = threading.get_ident()
    threading.Timer(0.2, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        made.receive()
    made.send("after")
    assert made.receive() == "after"


def test_where_nobody_listens_no_thread_is_left(address: str) -> None:
    before = threading.active_count()
    with pytest.raises(OSError, match="Connect call failed"):
        ThreadSocket("ws://127.0.0.1:1/", proxy=None)
    assert threading.active_count() == before
