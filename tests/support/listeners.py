"""Bare listeners on loopback: an application that answers any request, and a host that must not be reached."""

from __future__ import annotations

import base64
import hashlib
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_OF_WEBSOCKETS = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Listener:
    """Keep the head of every request as it came; answer 200, or 101 to an upgrade; `/away?HOST` is redirected.

    `answer` in place of that, when it is set.
    """

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.lines: list[bytes] = []
        self.heads: list[bytes] = []
        self.answer = b""
        self.connections = 0
        self._thread = threading.Thread(target=self._run, name="listener", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            with connection:
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        connection.settimeout(60)
        head = b""
        while b"\r\n\r\n" not in head and (piece := connection.recv(65536)):
            head += piece
        line, *headers = head.split(b"\r\n")
        self.heads.append(head)
        self.lines.append(line)
        if self.answer:
            with suppress(OSError):
                connection.sendall(self.answer)
            return
        if line.startswith(b"GET /away?"):
            there = line.split(b" ")[1].partition(b"?")[2]
            location = b"Location: ws://" + there + b"/\r\n"
            connection.sendall(b"HTTP/1.1 302 Found\r\n" + location + b"Content-Length: 0\r\nConnection: close\r\n\r\n")
            return
        keys = [
            header.partition(b":")[2].strip() for header in headers if header.lower().startswith(b"sec-websocket-key")
        ]
        if not keys:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        accept = base64.b64encode(hashlib.sha1(keys[0] + _OF_WEBSOCKETS).digest())
        upgrade = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + accept
        # A closing frame right behind it ends the conversation.
        connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\n" + upgrade + b"\r\n\r\n\x88\x02\x03\xe8")
        connection.recv(65536)


class Connects:
    """Every address that one thread of this process connects to, and every name that it resolves."""

    def __init__(self) -> None:
        self._thread = ""
        self.seen: list[object] = []
        sys.addaudithook(self._hook)  # stays for good, without effect outside of `of`

    @contextmanager
    def of(self, thread: str) -> Iterator[list[object]]:
        self._thread, self.seen = thread, []
        try:
            yield self.seen
        finally:
            self._thread = ""

    def _hook(self, event: str, args: tuple[object, ...]) -> None:
        if self._thread and event.startswith("socket.") and threading.current_thread().name == self._thread:
            if event == "socket.connect":
                self.seen.append(args[1])
            elif event == "socket.getaddrinfo":
                self.seen.append(args[:2])
