"""API and master over real sockets on loopback: answers, refusals, strangers, garbage."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import zmq

from zoe_lib.messaging.client import MasterClient, MasterRefused, MasterUnreachable
from zoe_lib.messaging.envelope import MESSAGE_BYTES_MAX, BadEnvelope, Reply, Request, read, write
from zoe_lib.messaging.keys import API, MASTER, ensure_keys, load_keys, load_public
from zoe_lib.messaging.server import Refusal, Server


class Handlers:
    """Handlers for the requests of these tests."""

    def __init__(self) -> None:
        self.hinted = threading.Event()

    def table(self) -> dict[str, Any]:
        return {"echo": lambda body: body, "no": self.no, "broken": self.broken, "hint": self.hint}

    def no(self, _body: dict[str, Any]) -> dict[str, Any]:
        raise Refusal("not_today", "come back tomorrow")

    def broken(self, _body: dict[str, Any]) -> dict[str, Any]:
        raise RuntimeError("a bug")

    def hint(self, _body: dict[str, Any]) -> dict[str, Any]:
        self.hinted.set()
        return {}


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    ensure_keys(tmp_path / "keys")
    return tmp_path / "keys"


@pytest.fixture
def handlers() -> Handlers:
    return Handlers()


@pytest.fixture
def server(keys: Path, handlers: Handlers) -> Iterator[Server]:
    running = Server("tcp://127.0.0.1:*", keys, handlers.table())
    yield running
    running.close()


@pytest.fixture
def client(server: Server, keys: Path) -> Iterator[MasterClient]:
    asking = MasterClient(server.endpoint, keys, timeout_s=10.0, attempts_max=2)
    yield asking
    asking.close()


def test_a_question_gets_its_answer(client: MasterClient) -> None:
    assert client.ask("echo", {"a": [1, None, "ü"]}) == {"a": [1, None, "ü"]}


@pytest.mark.parametrize(("kind", "code"), [("no", "not_today"), ("broken", "internal"), ("what", "unknown_kind")])
def test_a_refusal_has_a_code(client: MasterClient, kind: str, code: str) -> None:
    with pytest.raises(MasterRefused) as refused:
        client.ask(kind)
    assert refused.value.code == code


def test_a_hint_arrives_without_waiting(client: MasterClient, handlers: Handlers) -> None:
    client.hint()
    assert handlers.hinted.wait(60.0)


def test_hints_to_nobody_never_block(keys: Path) -> None:
    client = MasterClient("tcp://127.0.0.1:9", keys, timeout_s=0.1, attempts_max=1)
    for _ in range(1000):
        client.hint()
    client.close()


def test_a_master_that_is_away_is_told_after_all_attempts(keys: Path) -> None:
    client = MasterClient("tcp://127.0.0.1:9", keys, timeout_s=0.1, attempts_max=2)
    with pytest.raises(MasterUnreachable, match="2 attempts"):
        client.ask("echo")
    client.close()


def test_a_master_that_comes_back_is_found(keys: Path, handlers: Handlers) -> None:
    first = Server("tcp://127.0.0.1:*", keys, handlers.table())
    client = MasterClient(first.endpoint, keys, timeout_s=10.0, attempts_max=3)
    assert client.ask("echo", {"n": 1}) == {"n": 1}
    first.close()
    second = Server(first.endpoint, keys, handlers.table())
    assert client.ask("echo", {"n": 2}) == {"n": 2}
    second.close()
    client.close()


def _socket(context: zmq.Context[Any], endpoint: str, keys: Path | None, server_public: bytes) -> zmq.Socket[Any]:
    socket = context.socket(zmq.DEALER)
    socket.linger = 0
    if keys is not None:
        pair = load_keys(keys, API)
        socket.curve_publickey, socket.curve_secretkey = pair.public, pair.secret
        socket.curve_serverkey = server_public
    socket.connect(endpoint)
    return socket


@pytest.mark.parametrize("known", [False, True])
def test_strangers_are_not_heard(server: Server, keys: Path, tmp_path: Path, client: MasterClient, known: bool) -> None:
    ensure_keys(tmp_path / "other")
    context = zmq.Context()
    socket = _socket(context, server.endpoint, tmp_path / "other" if known else None, load_public(keys, MASTER))
    socket.sndtimeo = 300
    with suppress(zmq.Again):  # it has been refused before it could say anything
        socket.send(write(Request(id="x", kind="echo")))
    assert not socket.poll(300)
    assert client.ask("echo", {}) == {}
    context.destroy(linger=0)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b'{"v":2,"id":"a","kind":"echo"}',
        b"[" * 100_000,
        b'{"v":1,"id":1,"kind":"echo"}',
    ],
)
def test_garbage_disturbs_nobody(server: Server, keys: Path, client: MasterClient, payload: bytes) -> None:
    context = zmq.Context()
    socket = _socket(context, server.endpoint, keys, load_public(keys, MASTER))
    socket.send(payload)
    socket.send_multipart([b"a", b"b", payload])
    assert not socket.poll(200)
    assert client.ask("echo", {"still": "here"}) == {"still": "here"}
    context.destroy(linger=0)


def test_a_message_beyond_the_bound_disturbs_nobody(server: Server, keys: Path, client: MasterClient) -> None:
    context = zmq.Context()
    socket = _socket(context, server.endpoint, keys, load_public(keys, MASTER))
    socket.send(b"x" * (MESSAGE_BYTES_MAX + 1))
    assert not socket.poll(300)
    assert client.ask("echo", {}) == {}
    context.destroy(linger=0)


@pytest.mark.parametrize(("frames", "answered"), [(1, True), (2, True), (3, False), (500, False)])
def test_a_message_of_more_frames_than_a_question_has_is_dropped(
    server: Server, keys: Path, client: MasterClient, frames: int, answered: bool
) -> None:
    """Frames before the payload are kept until the answer is sent, and sent back with it."""
    context = zmq.Context()
    socket = _socket(context, server.endpoint, keys, load_public(keys, MASTER))
    socket.send_multipart([*(b"x" for _ in range(frames - 1)), write(Request(id="x", kind="echo"))])
    assert client.ask("echo", {}) == {}
    assert bool(socket.poll(10_000 if answered else 300)) == answered
    context.destroy(linger=0)


def test_a_return_address_is_bounded(server: Server, keys: Path, client: MasterClient) -> None:
    context = zmq.Context()
    socket = _socket(context, server.endpoint, keys, load_public(keys, MASTER))
    socket.send_multipart([b"x" * 5000, write(Request(id="x", kind="echo"))])
    assert client.ask("echo", {}) == {}
    assert not socket.poll(300)
    context.destroy(linger=0)


def test_secret_keys_are_for_their_owner_only(keys: Path) -> None:
    assert keys.stat().st_mode & 0o777 == 0o700
    for file in keys.glob("*.key_secret"):
        assert file.stat().st_mode & 0o077 == 0


def test_a_request_of_another_version_is_none_of_ours() -> None:
    with pytest.raises(BadEnvelope):
        read(Request, b'{"v":9,"id":"a","kind":"b"}')


@pytest.mark.parametrize("message", [Request(id="x", kind="status"), Reply(id="x", body={})])
def test_fields_of_a_newer_version_are_ignored(message: Request | Reply) -> None:
    newer = json.dumps({**json.loads(write(message)), "deadline_s": 5, "of_a_newer_version": {"a": [1]}}).encode()
    assert read(type(message), newer) == message


def test_a_leader_with_an_endpoint_that_cannot_be_used_is_not_reachable(keys: Path) -> None:
    with closing(MasterClient("foo", keys, 0.05, 2)) as client:
        client.hint()
        with pytest.raises(MasterUnreachable, match="the endpoint of the master cannot be used"):
            client.ask("status")


@pytest.mark.parametrize(
    ("endpoint", "host"),
    [("tcp://master:5101", "master"), ("tcp://[fd00::1]:5101", "fd00::1"), ("ipc:///run/zoe/x", "127.0.0.1")],
)
def test_the_host_of_the_master_is_known(keys: Path, endpoint: str, host: str) -> None:
    client = MasterClient(lambda: endpoint, keys, timeout_s=0.1, attempts_max=1)
    assert client.host() == host
    client.close()
