"""Reads of followed output: all followers of a service in this process share them, so that a hundred followers cost the
master as much as one.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread

from zoe_api.services.sse import sse
from zoe_lib.messaging.client import MasterRefused, MasterUnreachable

_BYTES_PER_READ = 65536
# Output may come from an engine that hangs: reads have their own threads, with a limit per owner of executions. The
# master has the same limits.
_THREADS_MAX = 16
_OF_OWNER_MAX = 4
# Minimum time between reads of an execution's output, however many news there are.
_PAUSE_S_LEAST = 0.02
# For followers that lag a little, such as slow clients.
_KEPT_BYTES_MAX = 4 << 20

Ask = Callable[..., dict[str, Any]]
_Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of output, and its text in streams; empty at the end of the present output.

    `full`: more may follow at once.
    """

    next_offset: int
    complete: bool
    empty: bool
    full: bool
    text: bytes

    @classmethod
    def from_answer(cls, offset: int, chunk: dict[str, Any]) -> Piece:
        """Return the piece for the master's answer from this offset."""
        next_offset, empty = int(chunk["next_offset"]), not chunk["data"]
        text = b"" if empty and not chunk["dropped_bytes"] else sse(next_offset, "log", chunk)
        return cls(next_offset, bool(chunk["complete"]), empty, next_offset - offset >= _BYTES_PER_READ, text)


Outcome = Piece | MasterRefused | MasterUnreachable


@dataclass(slots=True)
class _Read:
    """A pending read: it waits first, unless a follower needs it soon, then asks the master."""

    task: asyncio.Task[Outcome]
    soon: asyncio.Event
    asked: bool = field(default=False)


class OutputReads:
    """All reads of the process, in its event loop's thread. `ask` asks the master, and may wait."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._under_way: dict[_Place, _Read] = {}
        self._kept: OrderedDict[_Place, Piece] = OrderedDict()
        self._kept_bytes = 0
        self._lines: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._threads = anyio.CapacityLimiter(_THREADS_MAX)

    def close(self) -> None:
        """Cancel the reads without followers."""
        for read in self._under_way.values():
            read.task.cancel()

    async def read(
        self, owner: str, service_id: str, offset: int, pause_s: float, fresh: bool, soon: asyncio.Event | None = None
    ) -> Outcome:
        """Return a piece from an offset, or why there is none: shared with other followers' past and pending reads.

        If there is no such read, one begins after `pause_s`, or when `soon` is set. With `fresh`, an empty piece was
        read after this call.
        """
        place = (service_id, offset)
        if place in self._kept:
            self._kept.move_to_end(place)
            return self._kept[place]
        read = self._under_way.get(place)
        if fresh and read is not None and read.asked:
            outcome = await asyncio.shield(read.task)
            if isinstance(outcome, Piece) and not outcome.empty:
                return outcome
            read = self._under_way.get(place)
        if read is None:
            wanted = asyncio.Event()
            read = self._under_way[place] = _Read(asyncio.create_task(self._run(owner, place, pause_s, wanted)), wanted)
        if soon is not None and not read.asked:
            await _first_of(read.task, soon)
            read.soon.set()
        return await asyncio.shield(read.task)

    async def _run(self, owner: str, place: _Place, pause_s: float, soon: asyncio.Event) -> Outcome:
        try:
            await asyncio.sleep(min(pause_s, _PAUSE_S_LEAST))
            if pause_s > _PAUSE_S_LEAST:
                with suppress(TimeoutError):
                    await asyncio.wait_for(soon.wait(), pause_s - _PAUSE_S_LEAST)
            self._under_way[place].asked = True
            line = self._lines.setdefault(owner, asyncio.Semaphore(_OF_OWNER_MAX))
            async with line:
                outcome = await self._ask_master(owner, place)
            if isinstance(outcome, Piece) and not outcome.empty:
                self._keep(place, outcome)
            return outcome
        finally:
            del self._under_way[place]

    async def _ask_master(self, owner: str, place: _Place) -> Outcome:
        service_id, offset = place
        body = {"service_id": service_id, "offset": offset, "limit": _BYTES_PER_READ}
        ask = partial(self._ask, "logs", body, asker=f"followers of {owner}")
        try:
            return Piece.from_answer(offset, await anyio.to_thread.run_sync(ask, limiter=self._threads))
        except (MasterRefused, MasterUnreachable) as error:
            return error

    def _keep(self, place: _Place, piece: Piece) -> None:
        self._kept[place] = piece
        self._kept_bytes += len(piece.text)
        while self._kept_bytes > _KEPT_BYTES_MAX:
            _, oldest = self._kept.popitem(last=False)
            self._kept_bytes -= len(oldest.text)


async def _first_of(task: asyncio.Task[Outcome], event: asyncio.Event) -> None:
    """Return when the task has ended or the event is set; neither is changed."""
    waiting = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
