"""The program of the job: send requests as fast as possible, on open connections, and count the answers.

Standard library only: the job gets it as text. Each process has connections on which it sends so many requests at once,
and then reads their answers.
"""

from __future__ import annotations

import collections
import json
import multiprocessing
import os
import pathlib
import re
import select
import socket
import sys
import time
import urllib.parse

_STATUS = re.compile(rb'HTTP/1\.1 (\d{3})|"code":"(\w+)"|\r\n(?i:retry-after): (\d+)')
_PATHS = (
    ("GET", "/api/v1/executions?limit=5", b""),
    ("GET", "/api/v1/executions/{foreign}", b""),
    ("POST", "/api/v1/executions/{foreign}/cancel", b""),
    ("POST", "/api/v1/executions", b"[1,"),
    ("POST", "/api/v1/arrays/{foreign}/cancel", b""),
)


def requests(host: str, token: str, foreign: str, at_once: int) -> bytes:
    """Return so many requests, of each kind in turn, as one text."""
    found = b""
    for number in range(at_once):
        method, path, body = _PATHS[number % len(_PATHS)]
        head = f"{method} {path.format(foreign=foreign)} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
        kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if method == "POST" else ""
        found += f"{head}{kind}\r\n".encode() + body
    return found


class Connection:
    """One connection with requests that wait for answers; opened again when the server has closed it."""

    def __init__(self, address: tuple[str, int], text: bytes, at_once: int, counts: collections.Counter[str]) -> None:
        self._address, self._text, self._at_once, self._counts = address, text, at_once, counts
        self.socket: socket.socket | None = None
        self._rest, self._open = b"", 0

    def begin(self) -> None:
        """Connect, and send."""
        try:
            self.socket = socket.create_connection(self._address, timeout=30.0)
            self._rest, self._open = b"", 0
            self._send()
        except OSError as error:
            self._counts[type(error).__name__] += 1
            self.socket = None
            time.sleep(0.05)

    def read(self) -> None:
        """Count received answers; send again when all have arrived."""
        assert self.socket is not None
        try:
            data = self.socket.recv(1 << 18)
        except OSError:
            data = b""
        if not data:
            self.socket.close()
            self.socket = None
            self._counts["closed"] += 1
            return
        text = self._rest + data
        end = text.rfind(b"\n") + 1 or len(text)
        if text.endswith(b"}"):
            end = len(text)
        for found in _STATUS.finditer(text[:end]):
            self._count(*found.groups())
        self._rest = text[end:]
        if self._open <= 0:
            self._send()

    def _count(self, status: bytes | None, code: bytes | None, after: bytes | None) -> None:
        if status is not None:
            self._open -= 1
            self._counts[status.decode()] += 1
        elif code is not None:
            self._counts[code.decode()] += 1
        elif after is not None:
            self._counts["with Retry-After"] += 1

    def _send(self) -> None:
        assert self.socket is not None
        self.socket.sendall(self._text)
        self._open += self._at_once
        self._counts["sent"] += self._at_once


def flood(
    address: tuple[str, int],
    text: bytes,
    at_once: int,
    number: int,
    until_s: float,
    told: multiprocessing.SimpleQueue[dict[str, int]],
) -> None:
    """Send on so many connections until then, and report the counts."""
    counts: collections.Counter[str] = collections.Counter()
    connections = [Connection(address, text, at_once, counts) for _ in range(number)]
    while time.time() < until_s:
        for connection in connections:
            if connection.socket is None:
                connection.begin()
        open_ones = {connection.socket: connection for connection in connections if connection.socket is not None}
        for found in select.select(list(open_ones), [], [], 0.5)[0]:
            open_ones[found].read()
    told.put(dict(counts))


def main() -> None:
    """Flood for so many seconds, processes and connections of each, and print the counts of answers."""
    lasts_s, processes, each, at_once = float(sys.argv[1]), *(int(text) for text in sys.argv[2:5])
    url = urllib.parse.urlsplit(os.environ["ZOE_API_URL"])
    token = pathlib.Path(os.environ["ZOE_API_TOKEN_FILE"]).read_text().strip()
    text = requests(url.netloc, token, sys.argv[5], at_once)
    told: multiprocessing.SimpleQueue[dict[str, int]] = multiprocessing.SimpleQueue()
    address, until_s = (str(url.hostname), int(url.port or 80)), time.time() + lasts_s
    all_of_them = [
        multiprocessing.Process(target=flood, args=(address, text, at_once, each, until_s, told))
        for _ in range(processes)
    ]
    for process in all_of_them:
        process.start()
    counts: collections.Counter[str] = collections.Counter()
    for _ in all_of_them:
        counts.update(told.get())
    for entry in all_of_them:
        entry.join()
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
