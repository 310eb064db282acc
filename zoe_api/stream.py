"""Server-sent events: journal and logs as streams that a client can take up again where it stopped."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence

import anyio.to_thread

from zoe_lib.store.base import JournalEntry, Store, Subscription

_ENTRIES_PER_READ = 500
# A comment line now and then keeps balancers and browsers from closing a quiet stream.
_KEEP_ALIVE_S = 15.0


class JournalNews:
    """One subscription of the process, told to every stream. A lost notice costs one poll interval."""

    def __init__(self, store: Store, poll_s: float) -> None:
        self._store = store
        self._poll_s = poll_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._subscription: Subscription | None = None
        self._waiting: set[asyncio.Event] = set()

    def open(self) -> None:
        """Begin to listen; called in the event loop."""
        self._loop = asyncio.get_running_loop()
        self._subscription = self._store.subscribe(self._notify)

    def close(self) -> None:
        """Stop listening."""
        if self._subscription is not None:
            self._subscription.close()
        self._loop = None

    async def follow(
        self, after_id: int, tenant: str | None, execution_id: str | None
    ) -> AsyncIterator[Sequence[JournalEntry]]:
        """Batches of entries after an id, for ever; an empty batch means that all is quiet."""
        news = asyncio.Event()
        self._waiting.add(news)
        try:
            while True:
                news.clear()
                entries = await anyio.to_thread.run_sync(
                    self._store.journal, after_id, _ENTRIES_PER_READ, tenant, execution_id
                )
                if entries:
                    after_id = entries[-1].id
                yield entries
                if len(entries) < _ENTRIES_PER_READ:
                    await self._pause(news)
        finally:
            self._waiting.discard(news)

    async def _pause(self, news: asyncio.Event) -> None:
        try:
            async with asyncio.timeout(self._poll_s):
                await news.wait()
        except TimeoutError:
            return

    def _notify(self) -> None:
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._wake_all)

    def _wake_all(self) -> None:
        for event in self._waiting:
            event.set()


def sse(event_id: int | str, kind: str, data: object) -> bytes:
    """One server-sent event."""
    return f"id: {event_id}\nevent: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


async def with_keep_alive(batches: AsyncIterator[list[bytes]]) -> AsyncIterator[bytes]:
    """The events of all batches, with a comment whenever nothing was sent for a while."""
    loop = asyncio.get_running_loop()
    yield b": open\n\n"
    sent_at_s = loop.time()
    async for batch in batches:
        for event in batch:
            yield event
        if batch:
            sent_at_s = loop.time()
        elif loop.time() - sent_at_s > _KEEP_ALIVE_S:
            yield b": still here\n\n"
            sent_at_s = loop.time()
