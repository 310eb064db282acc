"""Relays between Zoe's programs, over which bytes come late, not at all, or until the connection is cut."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any

from sqlalchemy import make_url

_CHUNK_BYTES = 65536
_LATE_S = 0.2
_LOOK_S = 0.05


class LinkState(StrEnum):
    """What a link does to the bytes of its connections, old and new."""

    WHOLE = "whole"
    LATE = "late"
    """Each chunk is held for a while."""
    MUTE = "mute"
    """No bytes pass, and neither side gets an error: both believe that the other is silent."""


class Link:
    """Accepts connections at the socket `at`, and passes their bytes on to the socket `to`."""

    def __init__(self, loop: LinkLoop, at: Path, to: Path) -> None:
        self._loop = loop
        self._at = at
        self._to = to
        self._state = LinkState.WHOLE
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        loop.call(self._listen())

    def become(self, state: LinkState) -> None:
        """Treat bytes this way from now on."""
        self._state = state

    def cut(self) -> int:
        """Reset all connections that are open now; return how many."""
        return self._loop.call(self._cut())

    def close(self) -> None:
        """Accept no more, and reset open connections."""
        self._loop.call(self._close())

    async def _listen(self) -> None:
        self._server = await asyncio.start_unix_server(self._connected, self._at)
        self._at.chmod(0o777)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_unix_connection(self._to)
        except OSError:
            writer.transport.abort()
            return
        pair = {writer, far_writer}
        self._writers |= pair
        try:
            pumps = [self._pump(reader, far_writer), self._pump(far_reader, writer)]
            tasks = [asyncio.ensure_future(pump) for pump in pumps]
            with suppress(asyncio.CancelledError):  # at the end of all links
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
        finally:
            self._writers -= pair
            for entry in pair:
                entry.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK_BYTES):
                if self._state is LinkState.LATE:
                    await asyncio.sleep(_LATE_S)
                while self._state is LinkState.MUTE:
                    await asyncio.sleep(_LOOK_S)
                writer.write(data)
                await writer.drain()

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        await self._cut()

    async def _cut(self) -> int:
        count = len(self._writers) // 2
        for writer in self._writers:
            writer.transport.abort()
        return count


class LinkLoop:
    """The thread in which all links work."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="links", daemon=True)
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run it in the thread, and return its result."""
        done: Future[Any] = asyncio.run_coroutine_threadsafe(work, self._loop)
        return done.result(30)

    def close(self) -> None:
        """End the thread and all connections."""
        self.call(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # transports that were aborted close their sockets in the next round


class ZoeLinks:
    """The links of an installation: from APIs to each master, and from each master and the APIs to the database."""

    def __init__(self, directory: Path, database_url: str, masters: Sequence[str]) -> None:
        self._directory = directory
        self._loop = LinkLoop()
        self._database_url = make_url(database_url)
        host = self._database_url.query["host"]
        assert isinstance(host, str)
        sockets = [path for path in Path(host).iterdir() if path.name.startswith(".s.PGSQL.") and path.is_socket()]
        self._links = [Link(self._loop, directory / f"{name}.link", directory / name) for name in masters]
        for name in (*masters, "api"):
            place = directory / f"db-{name}"
            place.mkdir()
            self._links.append(Link(self._loop, place / sockets[0].name, sockets[0]))

    def choose(self, chance: random.Random) -> Link:
        """Return one of the links."""
        return chance.choice(self._links)

    def bound(self, master: str) -> str:
        """Return the endpoint that this master binds."""
        return f"ipc://{self._directory / master}"

    def advertised(self, master: str) -> str:
        """Return the endpoint for APIs to reach it, through a link."""
        return f"ipc://{self._directory / master}.link"

    def database_of(self, program: str) -> str:
        """Return the URL of the database for a master or for `api`, through a link."""
        url = self._database_url.update_query_dict({"host": str(self._directory / f"db-{program}")})
        return url.render_as_string(hide_password=False)

    def close(self) -> None:
        """End all connections."""
        for link in self._links:
            link.close()
        self._loop.close()
