"""The client of a terminal, beside the API."""

from __future__ import annotations

import json
import os
import selectors
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zoe_client.calls import frames
from zoe_master.backends.base import Endpoint

_open: list[socket.socket] = []


@contextmanager
def all_closed() -> Iterator[None]:
    """Close new terminals at the end."""
    try:
        yield
    finally:
        while _open:
            _open.pop().close()


def keep_open(*connections: socket.socket) -> None:
    """Close these at the end, too."""
    _open.extend(connections)


class Talk:
    """The client of one terminal, which takes all output unless the test stops it."""

    def __init__(self, endpoint: Endpoint, secret: str | None = None) -> None:
        self.socket = socket.create_connection((endpoint.host, endpoint.port), 30)
        _open.append(self.socket)
        self.socket.sendall((endpoint.secret if secret is None else secret).encode())
        self.received = bytearray()
        self.texts = {frames.OUTPUT: b"", frames.ERRORS: b""}
        self.exit: dict[str, object] | None = None
        self.taken = 0
        self.takes = True

    def send(self, message: bytes) -> None:
        self.socket.sendall(frames.add_length(message))

    def turn(self) -> bool:
        """Read once; return False at the end of the connection."""
        data = self.socket.recv(65536)
        self.received += data
        while (message := frames.next_frame(self.received)) is not None:
            kind, content = message[:1], message[1:]
            if kind == frames.EXIT:
                self.exit = json.loads(content)
            elif kind == frames.TAKEN:
                self.taken += frames.count_of(content)
            else:
                self.texts[kind] += content
                if self.takes:
                    self.send(frames.taken_message(len(content)))
        return bool(data)

    def until_end(self) -> dict[str, object]:
        while self.turn():
            pass
        assert self.exit is not None
        return self.exit

    def until(self, text: bytes) -> None:
        while text not in self.texts[frames.OUTPUT]:
            assert self.turn(), self.texts


def carry(host: str, port: int, secret: str, first: bytes) -> None:
    """Connect standard input and output with a terminal, as a ProxyCommand of ssh."""
    talk = Talk(Endpoint(host, port, secret))
    talk.send(frames.INPUT + first)
    selector = selectors.DefaultSelector()
    selector.register(0, selectors.EVENT_READ)
    selector.register(talk.socket, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fd == 0:
                data = os.read(0, 4096)
                if data:
                    talk.send(frames.INPUT + data)
                else:
                    talk.send(frames.INPUT_END)
                    selector.unregister(0)
            elif not talk.turn():
                return
        os.write(1, talk.texts[frames.OUTPUT])
        os.write(2, talk.texts[frames.ERRORS])
        talk.texts = {frames.OUTPUT: b"", frames.ERRORS: b""}


if __name__ == "__main__":
    carry(sys.argv[1], int(sys.argv[2]), sys.argv[3], Path(sys.argv[4]).read_bytes())
