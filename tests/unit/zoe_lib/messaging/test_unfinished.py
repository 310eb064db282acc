"""A client that sends frames without end is cut off, and no other client is."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq
from zmq.utils.monitor import parse_monitor_message

from zoe_lib.messaging import unfinished
from zoe_lib.messaging.envelope import Request, write
from zoe_lib.messaging.keys import API, MASTER, ensure_keys, load_keys, load_public
from zoe_lib.messaging.server import Server
from zoe_lib.messaging.unfinished import UNFINISHED_BYTES_MAX, UnfinishedMessages

FRAME = bytes(1 << 20)
WAIT_MS = 30_000
# ZMTP 3.0 without encryption, by hand: the library's own sockets send nothing of a message before its end.
GREETING = struct.pack("!B8xBBB20sB31x", 0xFF, 0x7F, 3, 0, b"NULL", 0)
READY = b"\x05READY\x0bSocket-Type" + struct.pack("!I", 6) + b"DEALER"


class Listener:
    """A socket that takes messages as a server does, in the test's own thread."""

    def __init__(self) -> None:
        self.context = zmq.Context()
        self.front = self.context.socket(zmq.ROUTER)
        self.unfinished = UnfinishedMessages(self.front)
        self.front.bind("tcp://127.0.0.1:*")
        self.address = ("127.0.0.1", int(self.front.getsockopt_string(zmq.LAST_ENDPOINT).rpartition(":")[2]))
        self.messages = 0

    def take(self) -> None:
        """Everything that has arrived, and one look."""
        while self.front.poll(20):
            self.unfinished.note_complete(self.front.recv_multipart(copy=False)[-1])
            self.messages += 1
        self.unfinished.look(more_to_take=False)

    def close(self) -> None:
        self.unfinished.__exit__()
        self.context.destroy(linger=0)


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.close()


def connected(listener: Listener) -> socket.socket:
    connection = socket.create_connection(listener.address)
    connection.sendall(GREETING + b"\x04" + bytes([len(READY)]) + READY)
    connection.settimeout(0.2)
    return connection


def frame(more: bool) -> bytes:
    return struct.pack("!BQ", 3 if more else 2, len(FRAME)) + FRAME


def is_cut_off(listener: Listener, send: Callable[[], object], times: int) -> bool:
    """Whether the connection ends while so much is sent on it."""
    for _ in range(times):
        try:
            send()
        except TimeoutError:
            pass
        except OSError:
            return True
        listener.take()
    return False


def test_a_message_without_an_end_costs_its_connection(listener: Listener) -> None:
    with connected(listener) as endless, connected(listener) as other:
        assert is_cut_off(listener, lambda: endless.sendall(frame(more=True)), 20 * UNFINISHED_BYTES_MAX // len(FRAME))
        other.sendall(frame(more=False))
        while not listener.messages:
            listener.take()


def test_messages_that_end_may_be_as_many_as_they_like(listener: Listener) -> None:
    with connected(listener) as busy:
        assert not is_cut_off(listener, lambda: busy.sendall(frame(more=False)), 4 * UNFINISHED_BYTES_MAX // len(FRAME))


def test_a_file_that_has_taken_a_number_over_is_left_alone(listener: Listener) -> None:
    """The library closes a descriptor before it says so."""
    with (
        socket.create_server(("127.0.0.1", 0)) as elsewhere,
        socket.create_connection(elsewhere.getsockname()) as sender,
        elsewhere.accept()[0] as ours,
    ):
        sender.sendall(b"x" * 1000)
        assert listener.unfinished._end_if_beyond(ours.fileno(), 0) == 1000
        assert len(ours.recv(2000)) == 1000
        sender.sendall(b"y")
        assert ours.recv(1) == b"y"


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    ensure_keys(tmp_path / "keys")
    return tmp_path / "keys"


@pytest.fixture
def server(keys: Path) -> Iterator[Server]:
    running = Server("tcp://127.0.0.1:*", keys, {"echo": lambda body: body})
    yield running
    running.close()


@pytest.fixture
def dealer(server: Server, keys: Path) -> Iterator[zmq.Socket[bytes]]:
    """Connected with the keys of an API."""
    context = zmq.Context()
    made = context.socket(zmq.DEALER)
    own = load_keys(keys, API)
    made.curve_serverkey = load_public(keys, MASTER)
    made.curve_publickey, made.curve_secretkey = own.public, own.secret
    made.setsockopt(zmq.RECONNECT_IVL, -1)
    made.monitor("inproc://events", zmq.EVENT_DISCONNECTED)
    made.connect(server.endpoint)
    yield made
    context.destroy(linger=0)


@pytest.fixture
def events(dealer: zmq.Socket[bytes]) -> Iterator[zmq.Socket[bytes]]:
    """The connections that the dealer has lost."""
    with dealer.context.socket(zmq.PAIR) as found:
        found.connect("inproc://events")
        yield found


def test_a_server_answers_many_large_questions(dealer: zmq.Socket[bytes], events: zmq.Socket[bytes]) -> None:
    """More than the bound in all, on one connection."""
    text = "y" * (2 << 20)
    for number in range(2 * UNFINISHED_BYTES_MAX // len(text)):
        dealer.send(write(Request(id=f"q{number}", kind="echo", body={"text": text})))
        assert dealer.poll(WAIT_MS)
        dealer.recv_multipart()
    assert not events.poll(0)


def test_a_server_looks(monkeypatch: pytest.MonkeyPatch, dealer: zmq.Socket[bytes], events: zmq.Socket[bytes]) -> None:
    """With no room for a message, the handshake is too much."""
    monkeypatch.setattr(unfinished, "UNFINISHED_BYTES_MAX", 0)
    assert events.poll(WAIT_MS)
    event: Any = parse_monitor_message(events.recv_multipart())
    assert event["event"] == zmq.EVENT_DISCONNECTED
