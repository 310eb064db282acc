"""A client in a separate process: streams of one tenant, one object after the other, until it is stopped.

Prints ten times a second the monotonic clock and the bytes moved so far. A body is sent through a small socket buffer,
so that the sent bytes are close to the received ones.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

PIECE_BYTES = 64 * 1024
TELL_INTERVAL_S = 0.1
_TIMEOUT_S = 120


def main() -> None:
    """Run with the arguments: get or put, the container's URL, a token, number of streams, and bytes of an object, or
    several comma-separated sizes for the streams in turn.
    """
    direction, url, token, streams = *sys.argv[1:4], int(sys.argv[4])
    sizes = [int(size) for size in sys.argv[5].split(",")]
    moved = [0] * streams
    stream = _get if direction == "get" else _put
    for number in range(streams):
        its = url, token, number, sizes[number % len(sizes)], moved
        threading.Thread(target=stream, args=its, daemon=True).start()
    while True:
        print(f"{time.monotonic():.6f} {sum(moved)}", flush=True)
        time.sleep(TELL_INTERVAL_S)


def _get(url: str, token: str, number: int, size: int, moved: list[int]) -> None:
    connection, path = _connect(url)
    buffer = memoryview(bytearray(PIECE_BYTES))
    while True:
        connection.request("GET", f"{path}/{number}", headers={"X-Auth-Token": token})
        answer = connection.getresponse()
        assert answer.status == 200, answer.status
        left = size
        while length := answer.readinto(buffer):
            moved[number] += length
            left -= length
        assert left == 0, f"{left} bytes are missing"


def _put(url: str, token: str, number: int, size: int, moved: list[int]) -> None:
    connection, path = _connect(url)
    piece = bytes(PIECE_BYTES)
    while True:
        connection.putrequest("PUT", f"{path}/w{os.getpid()}-{number}")
        connection.putheader("X-Auth-Token", token)
        connection.putheader("Content-Length", str(size))
        connection.endheaders()
        for start in range(0, size, PIECE_BYTES):
            part = piece[: size - start]
            connection.send(part)
            moved[number] += len(part)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 201, answer.status


def _connect(url: str) -> tuple[HTTPConnection, str]:
    place = urlsplit(url)
    connection = HTTPConnection(place.hostname or "", place.port, timeout=_TIMEOUT_S)
    connection.connect()
    its: Any = connection.sock
    its.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, PIECE_BYTES)
    its.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection, place.path


if __name__ == "__main__":
    main()
