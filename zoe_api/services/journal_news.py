"""Follow the journal: one reader for the process, whose entries all streams share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import anyio
import anyio.to_thread
import structlog

from zoe_api.services.recent_journal import RecentJournal, SharesById
from zoe_lib.domain.applications.sharing import ALL, Visibility
from zoe_lib.store.base import ExecutionStore, Subscription
from zoe_lib.store.errors import StoreUnavailable
from zoe_lib.store.values import JournalEntry

log = structlog.get_logger(__name__)

T = TypeVar("T")
_Read = tuple[Sequence[JournalEntry] | None, int, bool]
_ENTRIES_PER_READ = 500
# Under load every commit would wake all streams: events of this period form one batch.
_LOOK_PAUSE_S = 0.05
# With this many streams, all wait for the events that follow a first one; with fewer, they get the first at once.
_MANY = 50
# A quiet stream wakes this often to send a keep-alive and to check whether it is still allowed.
TICK_S = 1.0
# Streams wait in their own threads, so that any number of them leaves the other threads to short requests.
_THREADS_MAX = 16


@dataclass(slots=True, eq=False)
class _Watch:
    """The subject of a watch: an execution, or everything visible to a client."""

    visibility: Visibility
    execution_id: str | None
    news: asyncio.Event = field(default_factory=asyncio.Event)


class JournalNews:
    """One subscription and one reader for the process. A lost notification costs one poll interval."""

    def __init__(self, store: ExecutionStore, poll_s: float) -> None:
        self._store = store
        self._poll_s = poll_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._subscription: Subscription | None = None
        self._reader: asyncio.Task[None] | None = None
        self._told = asyncio.Event()
        self.recent = RecentJournal()
        self._watches: set[_Watch] = set()
        self.threads = anyio.CapacityLimiter(_THREADS_MAX)

    def open(self) -> None:
        """Begin to listen; call this in the event loop."""
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
        """Return the number of followers."""
        return len(self._watches)

    @contextmanager
    def watch(self, visibility: Visibility, execution_id: str | None) -> Iterator[asyncio.Event]:
        """Yield an event that is set by visible news of the execution (None: of any), and once at first."""
        watch = _Watch(visibility, execution_id)
        watch.news.set()
        self._watches.add(watch)
        if self.recent.to_id is None:
            self._told.set()
        try:
            yield watch.news
        finally:
            self._watches.discard(watch)

    async def follow(
        self, after_id: int, visibility: Visibility, execution_id: str | None
    ) -> AsyncGenerator[Sequence[JournalEntry] | None, None]:
        """Yield batches of entries after an id, forever: an empty one if nothing is new, None while the store is away.

        A stream reads the journal itself until it has caught up, then uses the entries that the process has read.
        """
        with self.watch(visibility, execution_id) as news:
            behind = True
            while True:
                entries: Sequence[JournalEntry] | None = ()
                if news.is_set():
                    news.clear()
                    recent = None if behind else self.recent.entries_after(after_id, _ENTRIES_PER_READ)
                    if recent is None:
                        entries, after_id, behind = await self._read(after_id, visibility, execution_id)
                    elif recent:
                        seen = [e for e in recent if self._is_visible(e, visibility, execution_id)]
                        entries, after_id = seen, recent[-1].id
                    if behind or (recent is not None and len(recent) == _ENTRIES_PER_READ):
                        news.set()
                yield entries
                if entries is None:
                    await asyncio.sleep(self._poll_s)
                elif not news.is_set():
                    await _pause(news, TICK_S)

    async def _read(self, after_id: int, visibility: Visibility, execution_id: str | None) -> _Read:
        """Return entries from the store, the id up to which they are complete, and whether there may be more."""
        known = self.recent.to_id
        try:
            read = await self._in_thread(
                lambda: self._store.journal(after_id, _ENTRIES_PER_READ, visibility, execution_id)
            )
        except StoreUnavailable:
            return None, after_id, True
        if len(read) == _ENTRIES_PER_READ:
            return read, read[-1].id, True
        # The reader had reached `known` before this read, so nothing up to there is missing.
        return read, max(after_id, known or 0, read[-1].id if read else 0), False

    async def _look_on(self) -> None:
        while True:
            self._told.clear()
            if self._watches:
                await self._look()
            else:
                self.recent.begin(None)
            if len(self._watches) < _MANY:
                await asyncio.sleep(_LOOK_PAUSE_S)
                await _pause(self._told, self._poll_s)
            else:
                await _pause(self._told, self._poll_s)
                await asyncio.sleep(_LOOK_PAUSE_S)

    async def _look(self) -> None:
        """Read on, and wake the followers of new entries; wake all if the new entries are unknown."""
        seen = self.recent.to_id
        entries: Sequence[JournalEntry] = ()
        shares: SharesById = {}
        try:
            if seen is None:
                self.recent.begin(await self._in_thread(self._store.last_journal_id))
            else:
                entries, shares = await self._in_thread(lambda: self._entries_after(seen))
        except StoreUnavailable:
            self.recent.begin(None)
            return
        except Exception:
            # All streams depend on this reader, so after any exception of a poll the next one starts afresh.
            log.exception("reading the journal for streams failed")
            self.recent.begin(None)
            return
        self.recent.add(entries, shares)
        if len(entries) == _ENTRIES_PER_READ:
            self._told.set()
        for watch in self._watches:
            if seen is None or any(self._is_visible(entry, watch.visibility, watch.execution_id) for entry in entries):
                watch.news.set()

    def _entries_after(self, after_id: int) -> tuple[Sequence[JournalEntry], SharesById]:
        """Read on, with the visibility of the new entries: one query for all streams, and only if there are entries."""
        entries = self._store.journal(after_id, _ENTRIES_PER_READ)
        ids = {entry.execution_id for entry in entries if entry.execution_id is not None}
        return entries, self._store.shares_of(ids) if ids else {}

    def _is_visible(self, entry: JournalEntry, visibility: Visibility, execution_id: str | None) -> bool:
        """Return whether the store would return an entry for this client and this execution."""
        if entry.execution_id is None:
            return execution_id is None and (visibility.tenant is None or entry.tenant in (None, visibility.tenant))
        if execution_id not in (None, entry.execution_id):
            return False
        return visibility == ALL or self.recent.seen_by(entry.execution_id, visibility)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(work, limiter=self.threads)

    def _notify(self) -> None:
        loop = self._loop
        # Without followers, commits would only wake the event loop. A follower first reads for itself.
        if self._watches and loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._told.set)


async def _pause(news: asyncio.Event, longest_s: float) -> None:
    try:
        async with asyncio.timeout(longest_s):
            await news.wait()
    except TimeoutError:
        return
