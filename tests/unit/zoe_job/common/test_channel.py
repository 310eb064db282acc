"""Only programs of this execution open a channel."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from zoe_job.common import channel
from zoe_job.common.channel import FRAME_BYTES_MAX, Channel, ChannelError


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Between containers: both ends have the secret of the execution."""
    file = tmp_path / "secret"
    file.write_bytes(os.urandom(32))
    monkeypatch.setattr(channel, "SECRET", file)
    return file


def served(listener: socket.socket) -> list[Channel | None]:
    found: list[Channel | None] = []
    thread = threading.Thread(target=lambda: found.append(channel.accept(listener.accept()[0])))
    thread.start()
    thread.join(5)
    return found


def both(listener: socket.socket, call: Callable[[], object]) -> tuple[object, Channel | None]:
    found: list[object] = []

    def connect() -> None:
        try:
            found.append(call())
        except ChannelError as error:
            found.append(error)

    thread = threading.Thread(target=connect)
    thread.start()
    (there,) = served(listener)
    thread.join(5)
    return found[0], there


@pytest.mark.usefixtures("secret")
def test_between_containers_both_ends_prove_the_secret() -> None:
    own, port = channel.listen(f"test-{os.getpid()}", "127.0.0.1", 0)
    with own, port:
        here, there = both(port, lambda: channel.connect(f"127.0.0.1:{port.getsockname()[1]}"))
        assert isinstance(here, Channel)
        assert there is not None
        here.send_json(b"t", {"argv": ["\udcff"]})
        assert there.receive() == (b"t", b'{"argv": ["\\udcff"]}')
        here.close()
        assert there.receive() is None
        there.close()


def test_peer_without_the_secret_gets_no_channel(secret: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as port:

        def guess() -> bytes:
            with socket.create_connection(port.getsockname(), timeout=5) as connection:
                nonce = connection.recv(32)
                connection.sendall(nonce + bytes(32))  # its own nonce given back, and no proof
                return connection.recv(100) + connection.recv(100)

        answer, there = both(port, guess)
        assert there is None
        assert isinstance(answer, bytes)
        assert secret.read_bytes() not in answer


@pytest.mark.usefixtures("secret")
def test_a_node_of_another_execution_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as port:

        def pretend() -> None:
            connection, _ = port.accept()
            with connection:
                connection.sendall(os.urandom(32) + bytes(32))
                connection.recv(100)

        threading.Thread(target=pretend, daemon=True).start()
        with pytest.raises(ChannelError, match="not of this execution"):
            channel.connect(f"127.0.0.1:{port.getsockname()[1]}")


def test_frames_that_are_too_long_are_refused() -> None:
    one, other = (Channel(end) for end in socket.socketpair())
    with pytest.raises(ChannelError):
        one.send_json(b"t", "x" * (FRAME_BYTES_MAX + 1))
    one._connection.sendall(b"t" + (FRAME_BYTES_MAX + 1).to_bytes(4, "big"))
    with pytest.raises(ChannelError):
        other.receive()
    one.close()
    other.close()


@pytest.mark.usefixtures("secret")
def test_the_first_node_is_reached_without_a_port_between_containers_too() -> None:
    name = f"own-{os.getpid()}-1"
    (own,) = channel.listen(name, None, None)
    with own:
        here, there = both(own, lambda: channel.connect(name))
        assert isinstance(here, Channel)
        assert there is not None
        here.close()
        there.close()
