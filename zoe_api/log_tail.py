"""Follow the output of one service through the master until it is complete."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from zoe_api.journal_news import JournalNews
from zoe_api.stream import Batches, sse
from zoe_lib.domain.execution import Execution
from zoe_lib.messaging.client import MasterClient, MasterRefused, MasterUnreachable
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.errors import NotFound, StoreUnavailable

_BYTES_PER_READ = 65536
_BUSY = "logs_busy"
_PAUSE_S_MIN = 0.1
_PAUSE_S_MAX = 1.0


class LogTail:
    """Read from an offset; yield `waiting` once while there is no output yet, and `end` at the end."""

    def __init__(
        self,
        store: ExecutionStore,
        master: MasterClient,
        news: JournalNews,
        execution_id: str,
        service_id: str,
        user: str,
    ) -> None:
        self._store = store
        self._master = master
        self._news = news
        self._execution_id = execution_id
        self._service_id = service_id
        self._user = user
        self._threads = news.output_threads
        self._told = False

    async def follow(self, offset: int) -> Batches:
        """Yield batches of events; the id of each is the next offset."""
        with self._news.watch(None, self._execution_id) as news:
            async with aclosing(self._followed(offset, news)) as batches:
                async for batch in batches:
                    yield batch

    async def _followed(self, offset: int, news: asyncio.Event) -> Batches:
        pause_s = _PAUSE_S_MIN
        gone = False
        while True:
            try:
                chunk = await self._read(offset)
            except MasterUnreachable:
                yield self._waiting(offset, "the master is not reachable")
            except MasterRefused as refused:
                if gone and refused.code != _BUSY:  # it ended without a start, or its output is no longer kept
                    yield [sse(offset, "end", {})]
                    return
                yield self._waiting(offset, str(refused))
            else:
                self._told = False
                offset = int(chunk["next_offset"])
                complete = chunk["complete"] or (gone and not chunk["data"])
                yield _events(offset, chunk, complete)
                if complete:
                    return
                if chunk["data"]:
                    pause_s = _PAUSE_S_MIN
                    continue
            # Checked before the next read, so that a read after the end returns all output.
            gone = gone or await self._is_gone(news)
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 1.5, _PAUSE_S_MAX)

    async def _read(self, offset: int) -> dict[str, Any]:
        body = {"service_id": self._service_id, "offset": offset, "limit": _BYTES_PER_READ}
        ask = partial(self._master.ask, "logs", body, asker=self._user)
        return await anyio.to_thread.run_sync(ask, limiter=self._threads)

    async def _is_gone(self, news: asyncio.Event) -> bool:
        """Return whether the journal records the end of the service; called on news of the execution."""
        if not news.is_set():
            return False
        news.clear()
        try:
            execution = await anyio.to_thread.run_sync(self._store.execution, self._execution_id, limiter=self._threads)
        except StoreUnavailable:
            news.set()
            return False
        except NotFound:
            return True
        return not is_alive(execution, self._service_id)

    def _waiting(self, offset: int, why: str) -> list[bytes]:
        if self._told:
            return []
        self._told = True
        return [sse(offset, "waiting", {"why": why})]


def is_alive(execution: Execution, service_id: str) -> bool:
    """Return whether the service may still print; NotFound if the execution has no such service."""
    for service in execution.services:
        if service.id == service_id:
            return service.alive and not execution.terminal
    raise NotFound(f"execution {execution.id} has no service {service_id}")


def _events(offset: int, chunk: dict[str, Any], complete: bool) -> list[bytes]:
    events = [sse(offset, "log", chunk)] if chunk["data"] or chunk["dropped_bytes"] else []
    return [*events, sse(offset, "end", {})] if complete else events
