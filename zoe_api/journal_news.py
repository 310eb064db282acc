"""The journal as it grows: one look of the process at what is new wakes the streams that it concerns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import anyio
import anyio.to_thread

from zoe_lib.store.base import ExecutionStore, JournalEntry, StoreUnavailable, Subscription

T = TypeVar("T")
_ENTRIES_PER_READ = 500
# Under load every commit wakes streams: each, and the look that wakes them, pauses at least so long.
_LOOK_PAUSE_S = 0.02
# A quiet stream comes to life so often, for its sign of life and to see whether it is still allowed.
TICK_S = 1.0
# Streams wait in threads of their own, so that any number of them leaves the others to short requests.
_THREADS_MAX = 16


@dataclass(slots=True, eq=False)
class _Watch:
    """What somebody wants to hear of: a tenant, an execution, or with neither everything."""

    tenant: str | None
    execution_id: str | None
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def concerns(self, entry: JournalEntry) -> bool:
        return self.tenant in (None, entry.tenant) and self.execution_id in (None, entry.execution_id)


class JournalNews:
    """One subscription and one reader of the process. A lost notice costs one poll interval."""

    def __init__(self, store: ExecutionStore, poll_s: float) -> None:
        self._store = store
        self._poll_s = poll_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._subscription: Subscription | None = None
        self._reader: asyncio.Task[None] | None = None
        self._told = asyncio.Event()
        self._seen: int | None = None
        self._watches: set[_Watch] = set()
        self.threads = anyio.CapacityLimiter(_THREADS_MAX)
        # Output may come from an engine that hangs: events do not wait behind it.
        self.output_threads = anyio.CapacityLimiter(_THREADS_MAX)

    def open(self) -> None:
        """Begin to listen; called in the event loop."""
        self._loop = asyncio.get_running_loop()
        self._subscription = self._store.subscribe(self._notify)
        self._reader = self._loop.create_task(self._look_on())

    def close(self) -> None:
        """Stop listening."""
        if self._subscription is not None:
            self._subscription.close()
        if self._reader is not None:
            self._reader.cancel()
        self._loop = None

    @property
    def followers(self) -> int:
        """How many wait for news."""
        return len(self._watches)

    @contextmanager
    def watch(self, tenant: str | None, execution_id: str | None) -> Iterator[asyncio.Event]:
        """Give an event that is set by news of that tenant and that execution (None: of any), and at first."""
        watch = _Watch(tenant, execution_id)
        watch.news.set()
        self._watches.add(watch)
        try:
            yield watch.news
        finally:
            self._watches.discard(watch)

    async def follow(
        self, after_id: int, tenant: str | None, execution_id: str | None
    ) -> AsyncGenerator[Sequence[JournalEntry] | None, None]:
        """Batches of entries after an id, for ever: an empty one when all is quiet, None while the store is away."""
        with self.watch(tenant, execution_id) as news:
            while True:
                entries: Sequence[JournalEntry] | None = ()
                if news.is_set():
                    news.clear()
                    entries = await self._read(after_id, tenant, execution_id)
                if entries:
                    after_id = entries[-1].id
                yield entries
                if entries is None:
                    news.set()
                    await asyncio.sleep(self._poll_s)
                elif len(entries) == _ENTRIES_PER_READ:
                    news.set()
                else:
                    await _pause(news, TICK_S)

    async def _read(self, after_id: int, tenant: str | None, execution_id: str | None) -> Sequence[JournalEntry] | None:
        try:
            return await self._in_thread(lambda: self._store.journal(after_id, _ENTRIES_PER_READ, tenant, execution_id))
        except StoreUnavailable:
            return None

    async def _look_on(self) -> None:
        while True:
            self._told.clear()
            if self._watches:
                await self._look()
            else:
                self._seen = None
            await _pause(self._told, self._poll_s)

    async def _look(self) -> None:
        """Wake those whom new entries concern; all when it is not known which entries are new."""
        seen = self._seen
        entries: Sequence[JournalEntry] = ()
        try:
            if seen is None:
                self._seen = await self._in_thread(self._store.last_journal_id)
            else:
                entries = await self._in_thread(lambda: self._store.journal(seen, _ENTRIES_PER_READ, with_data=False))
        except StoreUnavailable:
            self._seen = None
            return
        if entries:
            self._seen = entries[-1].id
        if len(entries) == _ENTRIES_PER_READ:
            self._told.set()
        for watch in self._watches:
            if seen is None or any(map(watch.concerns, entries)):
                watch.news.set()

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(work, limiter=self.threads)

    def _notify(self) -> None:
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._told.set)


async def _pause(news: asyncio.Event, longest_s: float) -> None:
    await asyncio.sleep(_LOOK_PAUSE_S)
    try:
        async with asyncio.timeout(longest_s):
            await news.wait()
    except TimeoutError:
        return
