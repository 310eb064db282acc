"""Follow the output of one service through the master until it is complete."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import anyio
import anyio.to_thread

from zoe_api.services.journal_news import JournalNews
from zoe_api.services.output_reads import Outcome, OutputReads, Piece
from zoe_api.services.sse import sse
from zoe_api.services.stream import Batches
from zoe_lib.domain.applications.sharing import ALL
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.messaging.client import MasterRefused
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.errors import NotFound, StoreUnavailable

_BUSY = "logs_busy"
_PAUSE_S_MIN = 0.1
_PAUSE_S_MAX = 1.0


class LogTail:
    """Read from an offset; yield `waiting` once while there is no output yet, and `end` at the end."""

    def __init__(
        self, store: ExecutionStore, reads: OutputReads, news: JournalNews, execution: Execution, service_id: str
    ) -> None:
        self._store = store
        self._reads = reads
        self._news = news
        self._execution_id = execution.id
        self._owner = f"{execution.tenant}/{execution.user}"
        self._service_id = service_id
        self._told = False

    async def follow(self, offset: int) -> Batches:
        """Yield batches of events; the id of each is the next offset."""
        with self._news.watch(ALL, self._execution_id) as news:
            async with aclosing(self._follow_reads(offset, news)) as batches:
                async for batch in batches:
                    yield batch

    async def _follow_reads(self, offset: int, news: asyncio.Event) -> Batches:
        pause_s = 0.0
        gone = False
        while True:
            outcome = await self._reads.read(self._owner, self._service_id, offset, pause_s, fresh=gone, soon=news)
            if isinstance(outcome, Piece):
                self._told = False
                offset = outcome.next_offset
                complete = outcome.complete or (gone and outcome.empty)
                yield _events(outcome, complete)
                if complete:
                    return
            elif isinstance(outcome, MasterRefused):
                if gone and outcome.code != _BUSY:  # it ended without a start, or its output is no longer kept
                    yield [sse(offset, "end", {})]
                    return
                yield self._waiting(offset, str(outcome))
            else:
                yield self._waiting(offset, "the master is not reachable")
            # Checked before the next read, so that a read after the end returns all output.
            was_gone, gone = gone, gone or await self._is_gone(news)
            pause_s = 0.0 if gone and not was_gone else _pause_s(outcome, pause_s)

    async def _is_gone(self, news: asyncio.Event) -> bool:
        """Return whether the journal records the end of the service; called on news of the execution."""
        if not news.is_set():
            return False
        news.clear()
        look = self._store.execution
        try:
            execution = await anyio.to_thread.run_sync(look, self._execution_id, limiter=self._news.threads)
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


def _pause_s(outcome: Outcome, before_s: float) -> float:
    """Return the pause before the next read, unless there is news: it grows while there is no output."""
    if isinstance(outcome, Piece) and not outcome.empty:
        return 0.0 if outcome.full else _PAUSE_S_MIN  # avoids one request per line
    return min(max(before_s * 1.5, _PAUSE_S_MIN), _PAUSE_S_MAX)


def is_alive(execution: Execution, service_id: str) -> bool:
    """Return whether the service may still print; NotFound if the execution has no such service."""
    for service in execution.services:
        if service.id == service_id:
            return service.alive and not execution.terminal
    raise NotFound(f"execution {execution.id} has no service {service_id}")


def _events(piece: Piece, complete: bool) -> list[bytes]:
    events = [piece.text] if piece.text else []
    return [*events, sse(piece.next_offset, "end", {})] if complete else events
