"""Ports are allocated once, kept over restarts, and free again after their release."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from zoe_master.backends.local.machine.ports import PortBook, can_be_bound
from zoe_master.backends.services.failures import CannotStartError


def book(directory: Path, count: int = 10, taken: frozenset[int] = frozenset()) -> PortBook:
    return PortBook(directory, 20000, 20000 + count - 1, lambda port: port not in taken)


def test_the_same_question_gets_the_same_answer(tmp_path: Path) -> None:
    ports = book(tmp_path)
    first = ports.allocate("e", "e.c.0.1", ["a", "b"])
    assert ports.allocate("e", "e.c.0.1", ["b", "a"]) == first
    assert len(set(first.values())) == 2


def test_a_restart_keeps_them_and_hands_none_out_again(tmp_path: Path) -> None:
    first = book(tmp_path).allocate("e", "e.c.0.1", ["a", "b"])
    again = book(tmp_path)
    assert again.ports_of("e", "e.c.0.1") == first
    others = [port for n in range(8) for port in again.allocate("f", f"f.c.{n}.1", ["a"]).values()]
    assert not set(others) & set(first.values())


def test_none_left_is_told(tmp_path: Path) -> None:
    ports = book(tmp_path, count=3, taken=frozenset({20001}))
    ports.allocate("e", "e.c.0.1", ["a", "b"])
    with pytest.raises(CannotStartError, match="no free port between 20000 and 20002"):
        ports.allocate("e", "e.c.1.1", ["a"])


def test_released_ports_are_free_again(tmp_path: Path) -> None:
    ports = book(tmp_path, count=2)
    ports.allocate("e", "e.c.0.1", ["a"])
    ports.allocate("e", "e.c.1.1", ["a"])
    ports.release("e", "e.c.0.1")
    assert ports.ports_of("e", "e.c.0.1") == {}
    ports.allocate("f", "f.c.0.1", ["a"])
    ports.release("e")
    ports.release("f")
    ports.release("nobody")
    assert not any(tmp_path.iterdir())
    assert ports.executions() == []


def test_many_threads_get_different_ports(tmp_path: Path) -> None:
    ports = book(tmp_path, count=200)
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda n: ports.allocate("e", f"e.c.{n}.1", ["a"])["a"], range(200)))
    assert len(set(got)) == 200


def test_a_listener_on_any_address_makes_a_port_taken() -> None:
    with socket.create_server(("127.0.0.2", 0)) as listener:
        port = listener.getsockname()[1]
        assert not can_be_bound(port)
    assert can_be_bound(port)


def test_a_file_that_is_not_whole_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text('{"e.c.0.1": {"a"')
    (tmp_path / "f.json.new").touch()
    assert book(tmp_path).ports_of("e", "e.c.0.1") == {}
    assert [path.name for path in tmp_path.iterdir()] == ["e.json"]
