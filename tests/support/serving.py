"""An application under a real uvicorn, in a thread."""

from __future__ import annotations

import asyncio
import socket
import threading
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from tests.support.waiting import DEADLINE_S
from zoe_api.http.serving.server import IDLE_S


class Served:
    """Listens on loopback unless an address is named, on a port from the kernel unless one is named."""

    def __init__(self, app: ASGIApp, port: int = 0, host: str = "127.0.0.1", **options: Any) -> None:
        self._socket = socket.create_server((host, port))
        self.port = self._socket.getsockname()[1]
        self.url = f"http://{host}:{self.port}"
        as_the_api = {"http": "httptools", "loop": "uvloop", "proxy_headers": False, "timeout_keep_alive": IDLE_S}
        options = as_the_api | options
        config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1, **options)
        self._server = _Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), name="api")
        self._thread.start()
        assert self._server.serving.wait(DEADLINE_S), "uvicorn has not started"

    def close(self) -> None:
        self._server.stop()
        self._thread.join()
        self._socket.close()


class _Server(uvicorn.Server):
    """Ends on request; uvicorn checks ten times a second."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.serving = threading.Event()

    async def main_loop(self) -> None:
        self._loop, self._told = asyncio.get_running_loop(), asyncio.Event()
        await self.on_tick(0)  # the headers of all answers
        self.serving.set()
        await self._told.wait()

    def stop(self) -> None:
        self.should_exit = True
        self._loop.call_soon_threadsafe(self._told.set)
