"""A TCP relay that records when it forwarded how many bytes to the server behind it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_PIECE_BYTES = 16 * 1024
_PATIENCE_S = 120.0


class CountingRelay:
    """`sent`: for each piece, the time of its hand-over by the monotonic clock, and its length. `connections`: their
    number.
    """

    def __init__(self, server: tuple[str, int]) -> None:
        self._server = server
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.sent: list[tuple[float, int]] = []
        self.connections = 0
        self._threads = [threading.Thread(target=self._run)]
        self._threads[0].start()

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._threads[0].join()
        self._socket.close()
        for thread in self._threads[1:]:
            thread.join()

    def _run(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            thread = threading.Thread(target=self._serve, args=(client,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket() as server:
            # Bytes in the kernel's buffers are not forwarded yet.
            server.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _PIECE_BYTES)
            server.connect(self._server)
            for entry in (client, server):
                entry.settimeout(_PATIENCE_S)
            back = threading.Thread(target=self._copy, args=(server, client, False))
            back.start()
            self._copy(client, server, True)
            back.join()

    def _copy(self, source: socket.socket, target: socket.socket, counted: bool) -> None:
        with suppress(OSError):
            while piece := source.recv(_PIECE_BYTES):
                target.sendall(piece)
                if counted:
                    self.sent.append((time.monotonic(), len(piece)))
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)


@contextmanager
def counting_relay(server: tuple[str, int]) -> Iterator[CountingRelay]:
    relay = CountingRelay(server)
    try:
        yield relay
    finally:
        relay.close()
