"""Wait for the one connection that sends the secret."""

from __future__ import annotations

import hmac
import select
import socket
import time

CANDIDATES_MAX = 8


def listen(host: str) -> socket.socket:
    """Return a socket that listens on a free port of an address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    server = socket.socket(family, socket.SOCK_STREAM)
    server.bind((host, 0))
    server.listen(CANDIDATES_MAX)
    return server


def accept(server: socket.socket, secret: bytes, permission: int, wait_s: float) -> socket.socket | None:
    """Return the first connection that begins with the secret; None if none arrives in time, or `permission` ends.

    Other connections must not keep the right one out: the oldest of too many is closed.
    """
    until_s = time.monotonic() + wait_s
    server.setblocking(False)
    candidates: dict[int, tuple[socket.socket, bytearray]] = {}
    found: socket.socket | None = None
    while found is None and (left_s := until_s - time.monotonic()) > 0:
        ready, _, _ = select.select([server.fileno(), permission, *candidates], [], [], left_s)
        if permission in ready:
            break
        if server.fileno() in ready:
            _admit(server, candidates)
        found = next((one for fd in ready if (one := _read_candidate(fd, candidates, secret))), None)
    for connection, _ in candidates.values():
        if connection is not found:
            connection.close()
    server.close()
    return found


def _admit(server: socket.socket, candidates: dict[int, tuple[socket.socket, bytearray]]) -> None:
    try:
        connection, _ = server.accept()
    except OSError:
        return
    connection.setblocking(False)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if len(candidates) >= CANDIDATES_MAX:
        oldest, _ = candidates.pop(next(iter(candidates)))
        oldest.close()
    candidates[connection.fileno()] = connection, bytearray()


def _read_candidate(
    ready: int, candidates: dict[int, tuple[socket.socket, bytearray]], secret: bytes
) -> socket.socket | None:
    """Read from a candidate; return it if it sent the secret."""
    if ready not in candidates:
        return None
    connection, said = candidates[ready]
    try:
        data = connection.recv(len(secret) - len(said))
    except OSError:
        data = b""
    said += data
    if len(said) == len(secret) and hmac.compare_digest(bytes(said), secret):
        return connection
    if not data or len(said) == len(secret):
        del candidates[ready]
        connection.close()
    return None
