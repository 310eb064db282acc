"""The readiness probe never blocks, and rejects invalid answers."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator

import pytest

from zoe_master.backends.local.supervisor.readiness import ANSWER_S_MAX, REST_S_MAX, ReadinessProbe
from zoe_master.backends.local.supervisor.spec import ProbeSpec


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def probe(kind: str, port: int, path: str = "/") -> ProbeSpec:
    return {"kind": kind, "name": "web", "port": port, "path": path, "interval_s": 1.0, "timeout_s": 10.0}


def drive(readiness: ReadinessProbe, now_s: float, rounds: int = 20) -> None:
    """Advance like the supervisor, until nothing changes."""
    for _ in range(rounds):
        readiness.advance(now_s)
        descriptor = readiness.descriptor
        if descriptor is None:
            return
        poll = select.poll()
        poll.register(descriptor, readiness.events)
        poll.poll(20)


def test_tcp_is_ready_when_the_connection_stands(listener: socket.socket) -> None:
    readiness = ReadinessProbe(probe("tcp", listener.getsockname()[1]), 0.0)
    drive(readiness, 0.0)
    assert readiness.ready
    assert readiness.descriptor is None


def test_refused_probe_is_repeated_soon_and_then_less_often() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    readiness = ReadinessProbe(probe("tcp", port), 0.0)
    drive(readiness, 0.0)
    assert not readiness.ready
    assert readiness.due_at_s == pytest.approx(0.01)
    drive(readiness, 2.0)
    assert readiness.due_at_s == pytest.approx(2.1)
    drive(readiness, 9.0)
    assert readiness.due_at_s == pytest.approx(9.45)
    assert readiness.problem == "Connection refused"
    assert not readiness.late(9.9)
    assert readiness.late(10.0)


@pytest.mark.parametrize(
    ("answer", "ready", "problem"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", True, ""),
        (b"HTTP/1.0 404 Not Found\r\n\r\n", True, ""),
        (b"HTTP/1.1 302\r\n", True, ""),
        (b"HTTP/1.1 503 Unavailable\r\n\r\n", False, "HTTP status 503"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", False, "the answer is not HTTP"),
        (b"", False, "the answer is not HTTP"),
        (b"HTTP/1.1 abc\r\n", False, "the answer is not HTTP"),
        (b"x" * 1000, False, "the answer is not HTTP"),
    ],
)
def test_http_is_judged_by_its_status(listener: socket.socket, answer: bytes, ready: bool, problem: str) -> None:
    readiness = ReadinessProbe(probe("http", listener.getsockname()[1], "/health"), 0.0)
    readiness.advance(0.0)
    connection, _ = listener.accept()
    with connection:
        readiness.advance(0.0)
        assert connection.recv(1000).startswith(b"GET /health HTTP/1.0\r\nHost: 127.0.0.1:")
        connection.sendall(answer)
        connection.shutdown(socket.SHUT_WR)
        drive(readiness, 0.0)
    assert readiness.ready is ready
    assert problem in readiness.problem
    readiness.close()


def test_an_answer_in_small_pieces_is_read_to_its_status(listener: socket.socket) -> None:
    readiness = ReadinessProbe(probe("http", listener.getsockname()[1]), 0.0)
    readiness.advance(0.0)
    connection, _ = listener.accept()
    with connection:
        for piece in (b"HT", b"TP/1.1", b" 20", b"0", b" OK"):
            connection.sendall(piece)
            drive(readiness, 0.0, rounds=3)
        assert not readiness.ready
        connection.shutdown(socket.SHUT_WR)
        drive(readiness, 0.0)
        assert readiness.ready


def test_a_page_is_read_to_its_end_so_that_its_server_sees_no_broken_connection(listener: socket.socket) -> None:
    readiness = ReadinessProbe(probe("http", listener.getsockname()[1]), 0.0)
    readiness.advance(0.0)
    connection, _ = listener.accept()
    with connection:
        drive(readiness, 0.0, rounds=2)
        connection.recv(1000)
        connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + b"x" * 3000)
        drive(readiness, 0.0, rounds=5)
        connection.shutdown(socket.SHUT_WR)
        drive(readiness, 0.0)
        assert readiness.ready
        assert connection.recv(1) == b""  # closed, and not reset


@pytest.mark.parametrize(("status", "ready"), [(b"200", True), (b"503", False)])
def test_a_page_without_end_is_judged_after_a_while(listener: socket.socket, status: bytes, ready: bool) -> None:
    readiness = ReadinessProbe(probe("http", listener.getsockname()[1]), 0.0)
    readiness.advance(0.0)
    connection, _ = listener.accept()
    with connection:
        drive(readiness, 0.0, rounds=2)
        connection.sendall(b"HTTP/1.1 " + status + b" So\r\n\r\ndata: 1")
        drive(readiness, 0.0, rounds=5)
        assert readiness.descriptor is not None
        assert readiness.due_at_s == REST_S_MAX
        readiness.advance(REST_S_MAX)
        assert readiness.ready is ready
        assert readiness.descriptor is None


def test_silence_is_no_answer_and_the_next_question_comes(listener: socket.socket) -> None:
    readiness = ReadinessProbe(probe("http", listener.getsockname()[1]), 0.0)
    drive(readiness, 0.0, rounds=3)
    assert readiness.descriptor is not None
    readiness.advance(ANSWER_S_MAX)
    assert readiness.descriptor is None
    assert readiness.problem == "no answer"
    assert readiness.due_at_s > ANSWER_S_MAX
