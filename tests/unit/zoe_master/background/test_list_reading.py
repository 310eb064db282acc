"""The answers of a user's file program are untrusted: they cost a bounded time and number of bytes."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.support.array_world import World
from zoe_client.vocabulary import ListProblem
from zoe_lib.domain.applications.entries import LIST_BYTES_MAX
from zoe_lib.domain.applications.entry_reading import ListRefused
from zoe_master.backends.base import BackendUnavailable, Endpoint, SystemUser
from zoe_master.background import list_reading
from zoe_master.background.list_reading import ListUnavailable, read_list

OK = b"HTTP/1.1 206 Partial Content\r\nConnection: close\r\n\r\n"


@contextmanager
def program(answer: Callable[[socket.socket], None]) -> Iterator[tuple[Endpoint, list[bytes]]]:
    """Yield the endpoint of a program with this answer, and the requests it got."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            try:
                connection, _ = listening.accept()
            except OSError:
                return  # the test has failed before its request
            with connection:
                asked.append(connection.recv(65_536))
                try:
                    answer(connection)
                except OSError:
                    return  # the reader has left

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield Endpoint("", listening.getsockname()[1], "secret"), asked
        finally:
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)  # there may be no request
            thread.join()


def read(endpoint: Endpoint) -> bytes:
    array = World().submit_for([])
    user = SystemUser(1, 2)

    def files(tenant: str, name: str, system_user: SystemUser | None) -> Endpoint:
        assert (tenant, name, system_user) == ("red", "ada", user)
        return endpoint

    return read_list(files, user, array)


def test_the_list_is_asked_for_with_its_bound_and_the_secret() -> None:
    with program(lambda entry: entry.sendall(OK + b'["a"]')) as (endpoint, asked):
        assert read(endpoint) == b'["a"]'
    assert asked[0].startswith(b"GET /workspace/content?path=parts.json HTTP/1.1\r\n")
    assert f"range: bytes=0-{LIST_BYTES_MAX}\r\n".encode() in asked[0].lower()
    assert b"authorization: bearer secret\r\n" in asked[0].lower()


def test_no_more_is_read_than_a_list_may_have() -> None:
    def endless(connection: socket.socket) -> None:
        connection.sendall(OK)
        while True:
            connection.sendall(b" " * 65_536)

    with program(endless) as (endpoint, _):
        assert len(read(endpoint)) == LIST_BYTES_MAX + 1


@pytest.mark.parametrize("begin", [b"", OK])
def test_a_program_that_drips_is_left(begin: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the head as in the content: each byte alone arrives in time."""
    monkeypatch.setattr(list_reading, "READ_S", 0.3)
    left = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.sendall(begin or b"HTTP/1.1 200 OK\r\nX: ")
        while not left.wait(0.02):
            connection.sendall(b"a")

    with program(drip) as (endpoint, _):
        began_s = time.monotonic()
        with pytest.raises(ListUnavailable, match="was not read within"):
            read(endpoint)
        left.set()
    assert time.monotonic() - began_s < 5


@pytest.mark.parametrize(
    ("status", "problem"),
    [
        (404, ListProblem.MISSING),
        (403, ListProblem.UNREADABLE),
        (409, ListProblem.NOT_A_LIST),
        (422, ListProblem.NOT_A_LIST),
    ],
)
def test_refusals_say_why(status: int, problem: ListProblem) -> None:
    body = json.dumps({"code": "x", "detail": "parts.json leads out"}).encode()
    head = f"HTTP/1.1 {status} No\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with program(lambda entry: entry.sendall(head + body)) as (endpoint, _), pytest.raises(ListRefused) as refused:
        read(endpoint)
    assert refused.value.problem is problem
    assert "parts.json leads out" in str(refused.value)
    assert refused.value.hint


@pytest.mark.parametrize("head", [b"HTTP/1.1 500 No\r\n\r\n", b"HTTP/1.1 429 No\r\n\r\n[", b"nonsense\r\n\r\n", b""])
def test_other_answers_are_asked_for_again(head: bytes) -> None:
    with program(lambda entry: entry.sendall(head)) as (endpoint, _), pytest.raises(ListUnavailable):
        read(endpoint)


def test_an_empty_file_is_no_list_and_no_error() -> None:
    with program(lambda entry: entry.sendall(b"HTTP/1.1 416 No\r\n\r\n")) as (endpoint, _):
        assert read(endpoint) == b""


def test_a_back_end_that_has_no_program_now_is_asked_again() -> None:
    def files(*_: object) -> Endpoint:
        raise BackendUnavailable("no node mounts the workspaces")

    with pytest.raises(ListUnavailable, match="no node"):
        read_list(files, None, World().submit_for([]))
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(ListUnavailable, match="does not answer"):
        read_list(lambda *_: Endpoint("127.0.0.1", port, "s"), None, World().submit_for([]))
