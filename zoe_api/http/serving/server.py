"""The HTTP server of the API: uvicorn, which ends open streams first when it stops."""

from __future__ import annotations

import asyncio
import socket

import uvicorn

IDLE_S = 20
"""Seconds for which a connection is kept between two requests. Clients keep theirs for less (httpx: 5 s): with the same
time, some would send a request just as the connection ends.
"""


class Server(uvicorn.Server):
    """Sets an event when the server stops.

    uvicorn waits for open responses, then cancels them, which its log shows as errors: a stream has to end itself.
    """

    def __init__(self, config: uvicorn.Config, stopping: asyncio.Event) -> None:
        super().__init__(config)
        self._stopping = stopping

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop in order."""
        self._stopping.set()
        await super().shutdown(sockets)
