"""Turns of clients: a few requests of each are computed at a time, and its others wait for them.

Threads that compute share one interpreter, so each of them delays every other request of the process. Waiting requests
hold no thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from starlette.requests import HTTPConnection

from zoe_api.http import cookies
from zoe_api.http.addresses import address_of
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem

AT_ONCE_MAX = 2
INSIDE_MAX = 64
"""Maximum requests of a client that are computed or wait."""


@dataclass(slots=True)
class _Line:
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE_MAX))
    inside: int = 0


class Turns:
    """The clients with requests in progress. Not thread-safe: for the event loop."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}

    @asynccontextmanager
    async def turn(self, client: str) -> AsyncIterator[None]:
        """Wait for a turn of this client, in the order of its requests, and hold it; 429 if too many wait."""
        line = self._lines.setdefault(client, _Line())
        if line.inside >= INSIDE_MAX:
            raise ApiProblem(Code.CHECK_BUSY, f"{INSIDE_MAX} requests of yours wait; try again when they are answered")
        line.inside += 1
        try:
            async with line.turns:
                yield
        finally:
            line.inside -= 1
            if not line.inside:
                del self._lines[client]


def client_of(connection: HTTPConnection) -> str:
    """Return the token or session of a request, which is not checked yet; without one, the client's address."""
    session = cookies.secrets_in(connection, cookies.SESSION)[:1]
    return connection.headers.get("authorization") or "".join(session) or address_of(connection)
