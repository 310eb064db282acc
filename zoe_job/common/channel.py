"""Messages between srun and the nodes of a job, over a channel that only programs of this execution can open.

On one machine the channel is a Unix socket, and both ends must belong to the same user. Between containers it is TCP,
and both ends prove that they know the execution's secret, which Docker Swarm mounts.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import socket
import struct
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

SECRET = Path("/run/secrets/zoe-execution")
FRAME_BYTES_MAX = 1 << 20
_HEAD = struct.Struct(">cI")
_NONCE_BYTES, _PROOF_BYTES = 32, 32
_HANDSHAKE_S, _CONNECT_S = 10.0, 30.0


class ChannelError(OSError):
    """The other end is not of this execution, or has disconnected."""


class Channel:
    """One connection: frames of a kind (one byte) and at most 1 MiB."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def send(self, kind: bytes, data: bytes = b"") -> None:
        """Send one frame. Raises ChannelError."""
        try:
            self._connection.sendall(_HEAD.pack(kind, len(data)) + data)
        except OSError as error:
            raise ChannelError(str(error)) from error

    def send_json(self, kind: bytes, value: Any) -> None:
        """Send one frame of JSON. Raises ChannelError, also if it is too long."""
        data = json.dumps(value).encode(errors="surrogateescape")
        if len(data) > FRAME_BYTES_MAX:
            raise ChannelError("the command and its environment are longer than 1 MiB")
        self.send(kind, data)

    def receive(self) -> tuple[bytes, bytes] | None:
        """Return the next frame, or None after the other end has disconnected. Raises ChannelError."""
        head = self._exactly(_HEAD.size)
        if head is None:
            return None
        kind, length = _HEAD.unpack(head)
        if length > FRAME_BYTES_MAX:
            raise ChannelError("a frame is too long")
        data = self._exactly(length)
        return None if data is None else (kind, data)

    def close(self) -> None:
        """Close the connection, also for a reading thread."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def _exactly(self, length: int) -> bytes | None:
        found = bytearray()
        while len(found) < length:
            try:
                piece = self._connection.recv(min(length - len(found), 1 << 16))
            except OSError:
                return None
            if not piece:
                return None
            found += piece
        return bytes(found)


def local_name(text: str) -> str:
    """Return the name of a Unix socket without a file, for this execution alone.

    Other users can see the names of sockets, and take predictable ones, so the name does not contain the execution's
    id.
    """
    secret = f"{os.environ.get('ZOE_EXECUTION_ID', '')} {text}"
    return f"\0zoe-job-{hashlib.sha256(secret.encode()).hexdigest()[:32]}"


def listen(name: str, host: str | None, port: int | None) -> list[socket.socket]:
    """Return the listening sockets of a node: the Unix socket of this name, and a port if it has one."""
    own = socket.socket(socket.AF_UNIX)
    try:
        own.bind(local_name(name))
    except OSError:
        own.close()
        raise
    own.listen(1024)
    return [own] if port is None else [own, socket.create_server((host or "", port), backlog=1024)]


def accept(connection: socket.socket) -> Channel | None:
    """Return the channel of a connection that proves to be of this execution, otherwise None."""
    connection.settimeout(_HANDSHAKE_S)
    try:
        trusted = (
            _same_user(connection) if connection.family == socket.AF_UNIX else _exchange_proofs(connection, serves=True)
        )
    except OSError:
        trusted = False
    if not trusted:
        connection.close()
        return None
    connection.settimeout(None)
    return Channel(connection)


def connect(address: str) -> Channel:
    """Return a channel to a node: `HOST:PORT`, or its Unix socket. Tries for half a minute. Raises ChannelError."""
    give_up_s = time.monotonic() + _CONNECT_S
    while True:
        try:
            return _connect(address)
        except ChannelError:
            raise
        except OSError as error:
            if time.monotonic() > give_up_s:
                raise ChannelError(f"node {address.rpartition(':')[0]} does not answer: {error}") from error
            time.sleep(0.1)


def _connect(address: str) -> Channel:
    host, colon, port = address.rpartition(":")
    if colon and SECRET.exists():
        connection = socket.create_connection((host, int(port)), timeout=_HANDSHAKE_S)
        trusted = _exchange_proofs(connection, serves=False)
    else:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(local_name(port))
        trusted = _same_user(connection)
    if not trusted:
        connection.close()
        raise ChannelError("the other end is not of this execution")
    connection.settimeout(None)
    return Channel(connection)


def _same_user(connection: socket.socket) -> bool:
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return bool(struct.unpack("3i", credentials)[1] == os.getuid())


def _exchange_proofs(connection: socket.socket, *, serves: bool) -> bool:
    """Exchange proofs of the secret; each end proves it over both nonces, so that no proof can be replayed."""
    if not SECRET.exists():
        return False
    mine = os.urandom(_NONCE_BYTES)
    connection.sendall(mine)
    channel = Channel(connection)
    theirs = channel._exactly(_NONCE_BYTES)
    if theirs is None:
        return False
    nonces = theirs + mine if serves else mine + theirs
    sides = (b"node", b"srun") if serves else (b"srun", b"node")
    connection.sendall(_proof(sides[0], nonces))
    found = channel._exactly(_PROOF_BYTES)
    return found is not None and hmac.compare_digest(found, _proof(sides[1], nonces))


def _proof(side: bytes, nonces: bytes) -> bytes:
    return hmac.new(SECRET.read_bytes(), b"zoe job " + side + nonces, hashlib.sha256).digest()
