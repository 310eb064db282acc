"""A TCP balancer: round robin over the servers that accept a connection, closing both sides when one closes."""

from __future__ import annotations

import itertools
import selectors
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

Address = tuple[str, int]
_PIECE_BYTES = 65536
_CONNECT_S = 5.0


class Balancer:
    """A context manager; `url` is the address for clients."""

    def __init__(self, servers: Sequence[Address]) -> None:
        self._turns = itertools.cycle(servers)
        self._servers = len(servers)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.connections: dict[Address, int] = dict.fromkeys(servers, 0)
        self._open: set[socket.socket] = set()
        self._broken = False
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._acceptor = threading.Thread(target=self._accept, name="balancer")
        self._acceptor.start()

    def __enter__(self) -> Balancer:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._acceptor.join()
        self._socket.close()
        self._cut_all()
        for thread in self._threads:
            thread.join()

    @contextmanager
    def broken(self) -> Iterator[None]:
        """Let nothing through meanwhile; existing connections end."""
        self._broken = True
        self._cut_all()
        try:
            yield
        finally:
            self._broken = False

    def _cut_all(self) -> None:
        with self._lock:
            for entry in self._open:
                entry.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._carry, args=(client,))
            self._threads.append(thread)
            thread.start()

    def _carry(self, client: socket.socket) -> None:
        with client:
            server = self._connect()
            if server is None:
                return
            with server:
                with self._lock:
                    if self._broken:
                        return
                    self._open |= {client, server}
                try:
                    _pump(client, server)
                except OSError:
                    pass  # one side was cut off; the close notifies the other
                finally:
                    with self._lock:
                        self._open -= {client, server}

    def _connect(self) -> socket.socket | None:
        for _ in range(self._servers):
            with self._lock:
                address = next(self._turns)
            try:
                server = socket.create_connection(address, timeout=_CONNECT_S)
            except OSError:
                continue
            server.settimeout(None)
            with self._lock:
                self.connections[address] += 1
            return server
        return None


def _pump(client: socket.socket, server: socket.socket) -> None:
    other = {client: server, server: client}
    with selectors.DefaultSelector() as selector:
        for side, opposite in other.items():
            selector.register(side, selectors.EVENT_READ, opposite)
        while True:
            for key, _ in selector.select():
                data = key.fileobj.recv(_PIECE_BYTES)  # type: ignore[union-attr]
                if not data:
                    return
                key.data.sendall(data)
