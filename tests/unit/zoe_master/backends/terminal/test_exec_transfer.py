"""Bytes between pipes and the connection to an engine: frames cut anywhere, ends, refusals."""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from zoe_master.backends.terminal.engine_api import ContainerStream, EngineApi, EngineRefused
from zoe_master.backends.terminal.exec_transfer import ExecTransfer

_BEGUN = b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\n\r\n"
Serve = Callable[[socket.socket], None]


def frame(kind: int, data: bytes) -> bytes:
    return struct.pack("!BxxxI", kind, len(data)) + data


def attached(place: Path, serve: Serve) -> ContainerStream:
    """Return the connection to an engine that runs the test's actions after it has read the request."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(place / "engine"))
    server.listen(1)

    def answer() -> None:
        connection, _ = server.accept()
        with server, connection:
            text = b""
            while b"{}" not in text:
                text += connection.recv(1000)
            serve(connection)

    threading.Thread(target=answer, daemon=True).start()
    return EngineApi(f"unix://{place}/engine", None, "1.41").attach("/exec/x/start", {})


def pumped(stream: ContainerStream, outputs: int) -> tuple[ExecTransfer, int, list[int]]:
    """Return the transfer, a descriptor for input, and one for output."""
    theirs, ours = os.pipe()
    pipes = [os.pipe() for _ in range(outputs)]
    for descriptor in (theirs, *(end for _, end in pipes)):
        os.set_blocking(descriptor, False)
    pump = ExecTransfer(stream, theirs, [end for _, end in pipes])
    pump.start()
    return pump, ours, [read for read, _ in pipes]


def rest(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


@pytest.mark.parametrize("step", [1, 3, 7, 8, 9, 1000])
def test_frames_may_be_cut_anywhere(tmp_path: Path, step: int) -> None:
    said = _BEGUN + frame(1, b"out") + frame(2, b"bad") + frame(1, b"") + frame(1, b"x" * 20) + frame(2, b"!")

    def serve(connection: socket.socket) -> None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        for start in range(0, len(said), step):
            connection.sendall(said[start : start + step])

    pump, ours, (out, errors) = pumped(attached(tmp_path, serve), 2)
    assert (rest(out), rest(errors)) == (b"out" + b"x" * 20, b"bad!")
    pump.join(5)
    os.close(ours)
    assert not pump.is_alive()


def test_input_arrives_with_its_end_while_output_still_comes(tmp_path: Path) -> None:
    sent = os.urandom(300_000)

    def serve(connection: socket.socket) -> None:
        connection.sendall(_BEGUN)
        received = b""
        while data := connection.recv(4096):
            received += data
        connection.sendall(received)

    pump, ours, [out] = pumped(attached(tmp_path, serve), 1)
    with os.fdopen(ours, "wb") as file:
        file.write(sent)
    assert rest(out) == sent
    pump.join(5)
    assert not pump.is_alive()


def test_buffers_do_not_grow_without_a_reader(tmp_path: Path) -> None:
    counted = 0

    def serve(connection: socket.socket) -> None:
        nonlocal counted
        connection.sendall(_BEGUN)
        connection.settimeout(0.5)
        try:
            while True:
                counted += connection.send(frame(1, b"x" * 4000))
        except OSError:
            return

    stream = attached(tmp_path, serve)
    pump, ours, descriptors = pumped(stream, 2)
    pump.join(0.7)
    for descriptor in (ours, *descriptors):
        os.close(descriptor)
    pump.join(5)
    assert not pump.is_alive()
    assert 2**16 < counted < 2**20


def test_a_refusal_has_the_words_of_the_engine(tmp_path: Path) -> None:
    body = b'{"message": "no such exec"}'

    def serve(connection: socket.socket) -> None:
        head = b"HTTP/1.1 409 Conflict\r\nContent-Length: %d\r\n\r\n" % len(body)
        connection.sendall(head + body[:5])
        connection.sendall(body[5:])

    with pytest.raises(EngineRefused, match="no such exec") as refused:
        attached(tmp_path, serve)
    assert refused.value.status == 409
