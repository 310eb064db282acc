"""Slow questions: sent once, limited, separate from others, and dropped when their client has left."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq

from tests.support.api import in_threads
from tests.support.waiting import until
from zoe_lib.messaging.client import MasterClient, MasterRefused, MasterUnreachable
from zoe_lib.messaging.envelope import Reply, Request, read, write
from zoe_lib.messaging.header import RECEIVED, write_header
from zoe_lib.messaging.keys import API, MASTER, ensure_keys, load_keys, load_public
from zoe_lib.messaging.server import Server, Slow
from zoe_lib.messaging.slow_lane import Lane, Left

COMPUTING, WAITING = Lane("computing", 2, "plan_busy"), Lane("waiting", 3, "logs_busy")


class Work:
    """Slow handlers that last until they are let go."""

    def __init__(self) -> None:
        self.begun: list[Any] = []
        self.may_end = threading.Event()
        self.seen_left = threading.Event()

    def slow(self, body: dict[str, Any], _left: Left) -> dict[str, Any]:
        self.begun.append(body)
        assert self.may_end.wait(60)
        return body

    def patient(self, body: dict[str, Any], left: Left) -> dict[str, Any]:
        self.begun.append(body)
        until(left)
        self.seen_left.set()
        return body

    def table(self) -> dict[str, Slow]:
        return {
            "plan": Slow(self.slow, 2, 1, COMPUTING),
            "look": Slow(self.slow, 16, 4, COMPUTING),
            "patient": Slow(self.patient, 16, 4, COMPUTING),
            "output": Slow(self.slow, 5, 4, WAITING),
        }


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    ensure_keys(tmp_path / "keys")
    return tmp_path / "keys"


@pytest.fixture
def work() -> Iterator[Work]:
    made = Work()
    yield made
    made.may_end.set()


@pytest.fixture
def server(keys: Path, work: Work) -> Iterator[Server]:
    running = Server("tcp://127.0.0.1:*", keys, {"echo": lambda body: body}, work.table())
    yield running
    work.may_end.set()
    running.close()


def asking(endpoint: str, keys: Path, timeout_s: float = 60.0, attempts_max: int = 2) -> MasterClient:
    return MasterClient(endpoint, keys, timeout_s, attempts_max)


@pytest.fixture
def client(server: Server, keys: Path) -> Iterator[MasterClient]:
    made = asking(server.endpoint, keys)
    yield made
    made.close()


def in_background(client: MasterClient, kind: str, body: dict[str, Any], asker: str = "") -> threading.Thread:
    """A question whose answer is not looked at."""

    def ask() -> None:
        try:
            client.ask(kind, body, asker=asker)
        except (MasterUnreachable, MasterRefused):
            return

    thread = threading.Thread(target=ask)
    thread.start()
    return thread


@pytest.fixture
def raw(server: Server, keys: Path) -> Iterator[Any]:
    """Makes sockets that speak as the API does."""
    context: zmq.Context[Any] = zmq.Context()
    made: list[zmq.Socket[Any]] = []

    def make() -> zmq.Socket[Any]:
        socket = context.socket(zmq.DEALER)
        made.append(socket)
        pair = load_keys(keys, API)
        socket.curve_publickey, socket.curve_secretkey = pair.public, pair.secret
        socket.curve_serverkey = load_public(keys, MASTER)
        socket.connect(server.endpoint)
        return socket

    yield make
    for socket in made:
        socket.close(linger=0)
    context.destroy(linger=0)


def received(socket: zmq.Socket[Any]) -> list[bytes]:
    assert socket.poll(60_000)
    return list(socket.recv_multipart())


def test_a_question_that_was_received_is_not_asked_again(server: Server, keys: Path, work: Work) -> None:
    impatient = asking(server.endpoint, keys, timeout_s=0.2, attempts_max=10)
    slow = in_background(impatient, "look", {"n": 1})
    until(lambda: work.begun)
    slow.join(0.5)  # longer than an attempt
    assert slow.is_alive()
    work.may_end.set()
    slow.join(60)
    assert work.begun == [{"n": 1}]
    impatient.close()


def test_one_that_is_received_and_not_answered_ends_and_the_master_is_not_taken_for_away(
    server: Server, keys: Path, work: Work
) -> None:
    impatient = asking(server.endpoint, keys, timeout_s=0.3, attempts_max=2)
    with pytest.raises(MasterUnreachable, match="received"):
        impatient.ask("look", {})
    assert len(work.begun) == 1
    patient = asking(server.endpoint, keys)
    assert in_threads(4, lambda n: patient.ask("echo", {"n": n})) == [{"n": n} for n in range(4)]
    for client in (impatient, patient):
        client.close()


def test_whose_asker_has_left_is_not_begun(raw: Any, client: MasterClient, work: Work) -> None:
    for kind in ("look", "echo"):
        socket = raw()
        socket.send_multipart([write_header(kind, 0.0, "ada"), write(Request(id="r", kind=kind, body={"n": "left"}))])
        assert received(socket) == [RECEIVED]
    work.may_end.set()
    for n in range(3):  # behind it, on each thread
        assert client.ask("look", {"n": n}) == {"n": n}
    assert work.begun == [{"n": n} for n in range(3)]
    assert not socket.poll(0)


def test_a_handler_sees_that_its_asker_has_left(server: Server, keys: Path, work: Work) -> None:
    impatient = asking(server.endpoint, keys, timeout_s=0.2, attempts_max=1)
    with pytest.raises(MasterUnreachable):
        impatient.ask("patient")
    assert work.seen_left.wait(60)
    impatient.close()


def test_a_server_that_closes_waits_for_no_slow_question(keys: Path, work: Work) -> None:
    server = Server("tcp://127.0.0.1:*", keys, {}, work.table())
    client = asking(server.endpoint, keys, timeout_s=0.5, attempts_max=4)
    thread = in_background(client, "patient", {})
    until(lambda: work.begun)
    server.close()
    assert work.seen_left.is_set()
    thread.join(60)
    client.close()


def test_slow_questions_are_bounded_in_all_and_of_each_asker(client: MasterClient, work: Work) -> None:
    first = in_background(client, "plan", {"of": "ada"}, "ada")
    until(lambda: work.begun)
    for asker, why in (("ada", "of yours"), ("ben", ""), ("cy", "2 plan")):
        if asker == "ben":
            second = in_background(client, "plan", {"of": "ben"}, "ben")
            until(lambda: len(work.begun) == 2)
            continue
        with pytest.raises(MasterRefused, match=why) as refused:
            client.ask("plan", {"of": asker}, asker=asker)
        assert refused.value.code == "plan_busy"
    work.may_end.set()
    for thread in (first, second):
        thread.join(60)
    assert client.ask("plan", {"of": "ada"}, asker="ada") == {"of": "ada"}


def test_other_questions_go_on_meanwhile(client: MasterClient, work: Work) -> None:
    slow = [in_background(client, "look", {"n": n}) for n in range(8)]
    until(lambda: len(work.begun) == 2)
    assert in_threads(8, lambda n: client.ask("echo", {"n": n})) == [{"n": n} for n in range(8)]
    assert len(work.begun) == 2
    work.may_end.set()
    for thread in slow:
        thread.join(60)
    assert sorted(entry["n"] for entry in work.begun) == list(range(8))


def test_lanes_do_not_wait_for_each_other(client: MasterClient, work: Work) -> None:
    """One lane is full: others answer, and further questions are refused with its code."""
    codes: list[str] = []

    def ask(asker: str) -> None:
        try:
            client.ask("output", {"of": asker}, asker=asker)
        except MasterRefused as refused:
            codes.append(refused.code)

    threads = [threading.Thread(target=ask, args=(f"u{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    until(lambda: len(codes) == 3)  # of eight, five have a place
    assert set(codes) == {"logs_busy"}
    until(lambda: len(work.begun) == WAITING.threads)
    look = in_background(client, "look", {"n": "look"})
    until(lambda: {"n": "look"} in work.begun)
    assert client.ask("echo", {"n": 1}) == {"n": 1}
    work.may_end.set()
    for thread in (*threads, look):
        thread.join(60)
    assert len(work.begun) == 5 + 1


def test_a_question_that_is_sent_twice_is_answered_once_where_it_was_sent_from_last(raw: Any, work: Work) -> None:
    frames = [write_header("q1", 60.0, "ada"), write(Request(id="r", kind="look", body={"n": 1}))]
    first, second = raw(), raw()
    first.send_multipart(frames)
    assert received(first) == [RECEIVED]
    second.send_multipart(frames)
    assert received(second) == [RECEIVED]
    work.may_end.set()
    assert read(Reply, received(second)[-1]).body == {"n": 1}
    assert not first.poll(0)
    assert work.begun == [{"n": 1}]


def test_a_client_of_before_gets_the_answer_and_no_receipt(raw: Any, work: Work) -> None:
    work.may_end.set()
    for kind in ("echo", "look"):
        socket = raw()
        socket.send(write(Request(id="r", kind=kind, body={"a": 1})))
        [reply] = received(socket)
        assert read(Reply, reply).body == {"a": 1}


def test_unknown_fields_of_a_header_are_ignored(raw: Any) -> None:
    for header, receipt in ((b'{"question":"q","remaining_ms":60000,"more":1}', True), (b'{"v":9}', False)):
        socket = raw()
        socket.send_multipart([header, write(Request(id="r", kind="echo", body={"a": 1}))])
        if receipt:
            assert received(socket) == [RECEIVED]
        assert read(Reply, received(socket)[-1]).body == {"a": 1}


def test_a_master_of_before_is_understood(keys: Path) -> None:
    """It takes all but the last frame for the way back, and sends no receipts."""
    context: zmq.Context[Any] = zmq.Context()
    socket = context.socket(zmq.ROUTER)
    pair = load_keys(keys, MASTER)
    socket.curve_server, socket.curve_publickey, socket.curve_secretkey = True, pair.public, pair.secret
    port = socket.bind_to_random_port("tcp://127.0.0.1")

    def answer() -> None:
        *route, payload = socket.recv_multipart()
        request = read(Request, payload)
        socket.send_multipart([*route, write(Reply(id=request.id, body=request.body))])

    thread = threading.Thread(target=answer)
    thread.start()
    client = asking(f"tcp://127.0.0.1:{port}", keys)
    assert client.ask("plan", {"a": 1}, asker="ada") == {"a": 1}
    thread.join(60)
    client.close()
    context.destroy(linger=0)
