"""A server with limits on connections, and a clock moved by the test, for each parser of uvicorn here."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from tests.support.manual_clock import ManualClock
from tests.support.serving import Served
from zoe_api.http.serving.connections import Bounds, Connections
from zoe_api.http.serving.guarded import guarded_protocol
from zoe_lib.http.strict_http import StrictHttp

HEAD_S, BODY_S, RATE, WRITE_S = 10, 20, 100, 40
BOUNDS = Bounds(
    in_all=6,
    of_address=4,
    head_s=HEAD_S,
    body_s=BODY_S,
    body_bytes_per_s=RATE,
    write_s=WRITE_S,
    shared=("127.0.0.9",),
)
PROTOCOLS = {"h11": H11Protocol, "httptools": StrictHttp}


class Guarded:
    """A server whose clock the test moves."""

    def __init__(self, parser: str, app: Any, bounds: Bounds = BOUNDS) -> None:
        self.clock = ManualClock(0.0)
        self.connections = Connections(bounds, self.clock)
        self.served: Any = Served(app, http=guarded_protocol(PROTOCOLS[parser], self.connections))
        self.sockets: list[socket.socket] = []

    def tick(self, seconds: float = 1.0) -> None:
        """Let time pass, and sweep, once all sent bytes have arrived."""
        self.run(lambda: None)
        self.clock.advance(seconds)
        self.run(self.connections.sweep)

    def run(self, job: Callable[[], None]) -> None:
        async def call() -> None:
            await asyncio.sleep(0)
            job()

        for _ in range(2):  # the loop has looked at its sockets in between
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self.served._server._loop).result(60)
        asyncio.run_coroutine_threadsafe(call(), self.served._server._loop).result(60)

    def connect(self, source: str = "127.0.0.1") -> socket.socket:
        made = socket.create_connection(("127.0.0.1", self.served.port), 60, (source, 0))
        self.sockets.append(made)
        return made

    def close(self) -> None:
        for connection in self.sockets:
            connection.close()
        self.served.close()
