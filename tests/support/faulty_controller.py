"""A proxy between the master and a storage controller that injects faults of networks and defects."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

from storage_bridge.model import TOKEN_HEADER

HANG_S = 60.0
_DRIP_S = 0.02
RICH = dict.fromkeys(("read_bytes_per_s", "write_bytes_per_s"), 10**12)
POOR = dict.fromkeys(("promised_read_bytes_per_s", "promised_write_bytes_per_s"), 0)


class FaultyController(ThreadingHTTPServer):
    """`fault` is None, `down`, `slow`, `endless` and `endless headers` (come byte by byte), `forgetful` (takes
    everything, keeps nothing) or `garbage`."""

    daemon_threads = True

    def __init__(self, url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behind = httpx.Client(base_url=url, timeout=HANG_S, trust_env=False)
        self.fault: str | None = None
        self.healed = threading.Event()
        self.asked = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FaultyController

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked += 1
        match self.server.fault:
            case "down":
                self.connection.close()
                self.close_connection = True
            case "slow":
                self.server.healed.wait(HANG_S)
                self.close_connection = True
            case "endless":
                self._drip(f"Content-Length: {10**9}\r\n\r\n")
            case "endless headers":
                self._drip("X-More: ")
            case "garbage":
                self._say(200, b'{"read_bytes_per_s": "much", "slos": [null]}')
            case "forgetful":
                self._say(*self._forgetful())
            case _:
                passed = (name for name in ("X-Auth-Token", TOKEN_HEADER) if name in self.headers)
                headers = {"Content-Type": "application/json", **{name: self.headers[name] for name in passed}}
                found = self.server.behind.request(self.command, self.path, content=body, headers=headers)
                self._say(found.status_code, found.content)

    do_GET = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815 - the base class wants these names

    def _drip(self, headers: str) -> None:
        self.close_connection = True
        self.wfile.write(f"HTTP/1.1 200 OK\r\n{headers}".encode())
        while not self.server.healed.wait(_DRIP_S):
            self.wfile.write(b" ")
            self.wfile.flush()
        self.close_connection = True

    def _forgetful(self) -> tuple[int, bytes]:
        if self.command == "GET" and self.path == "/v1/capacity":
            return 200, json.dumps(RICH | POOR).encode()
        if self.command == "GET":
            return 200, b"[]" if self.path.endswith("/views") else b"{}"
        return (204, b"") if self.command == "DELETE" else (201, b"{}")

    def _say(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):  # the client has gone
            super().handle()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def faulty_controller(url: str) -> Iterator[FaultyController]:
    server = FaultyController(url)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.healed.set()
        server.shutdown()
        thread.join()
        server.server_close()
        server.behind.close()
