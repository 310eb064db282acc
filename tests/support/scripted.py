"""A server with scripted responses, one connection after the other."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable, Sequence

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def answer(status: str, body: bytes = b"{}", kind: str = "application/json") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


class ScriptedServer:
    """For each connection one script of pieces: bytes to send, or seconds of silence; then it hangs up.

    The last script is for all later connections. `requests`: bytes of clients.
    """

    def __init__(self, *scripts: Iterable[bytes | float]) -> None:
        self._scripts: Sequence[Sequence[bytes | float]] = [list(script) for script in scripts]
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.requests: list[bytes] = []
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def __enter__(self) -> ScriptedServer:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        number = 0
        while not self._closing.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                self._play(connection, self._scripts[min(number, len(self._scripts) - 1)])
            number += 1

    def _play(self, connection: socket.socket, script: Sequence[bytes | float]) -> None:
        try:
            self.requests.append(connection.recv(65536))
            for piece in script:
                if isinstance(piece, bytes):
                    connection.sendall(piece)
                elif self._closing.wait(piece):
                    return
        except OSError:  # the client went away first
            return
