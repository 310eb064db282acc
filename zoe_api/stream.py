"""Server-sent events: journal and logs as streams that a client can take up again where it stopped."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

import anyio
import anyio.to_thread
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from zoe_api import metrics
from zoe_lib.store.base import JournalEntry, Store, StoreUnavailable, Subscription

Batches = AsyncGenerator[list[bytes], None]

_ENTRIES_PER_READ = 500
# A comment line now and then keeps balancers and browsers from closing a quiet stream.
KEEP_ALIVE_S = 15.0
# How long a stream may outlive the session or token that opened it.
CHECK_S = 10.0
# Under load every commit wakes every stream: each looks at most so often.
_LOOK_PAUSE_S = 0.02
# Streams wait in threads of their own, so that any number of them leaves the others to short requests.
_THREADS_MAX = 16
_ID_DIGITS_MAX = 18


class JournalNews:
    """One subscription of the process, told to every stream. A lost notice costs one poll interval."""

    def __init__(self, store: Store, poll_s: float) -> None:
        self._store = store
        self._poll_s = poll_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._subscription: Subscription | None = None
        self._waiting: set[asyncio.Event] = set()
        self.threads = anyio.CapacityLimiter(_THREADS_MAX)
        # Output may come from an engine that hangs: events do not wait behind it.
        self.output_threads = anyio.CapacityLimiter(_THREADS_MAX)

    def open(self) -> None:
        """Begin to listen; called in the event loop."""
        self._loop = asyncio.get_running_loop()
        self._subscription = self._store.subscribe(self._notify)

    def close(self) -> None:
        """Stop listening."""
        if self._subscription is not None:
            self._subscription.close()
        self._loop = None

    @property
    def followers(self) -> int:
        """How many streams wait for news."""
        return len(self._waiting)

    async def follow(
        self, after_id: int, tenant: str | None, execution_id: str | None
    ) -> AsyncGenerator[Sequence[JournalEntry] | None, None]:
        """Batches of entries after an id, for ever: an empty one when all is quiet, None while the store is away."""
        news = asyncio.Event()
        self._waiting.add(news)
        try:
            while True:
                news.clear()
                entries = await self._read(after_id, tenant, execution_id)
                if entries:
                    after_id = entries[-1].id
                yield entries
                if entries is None or len(entries) < _ENTRIES_PER_READ:
                    await self._pause(news)
        finally:
            self._waiting.discard(news)

    async def _read(self, after_id: int, tenant: str | None, execution_id: str | None) -> Sequence[JournalEntry] | None:
        try:
            return await anyio.to_thread.run_sync(
                self._store.journal, after_id, _ENTRIES_PER_READ, tenant, execution_id, limiter=self.threads
            )
        except StoreUnavailable:
            return None

    async def _pause(self, news: asyncio.Event) -> None:
        await asyncio.sleep(_LOOK_PAUSE_S)
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


class EventStream(StreamingResponse):
    """An answer of server-sent events; what its source holds is let go when the client does.

    `may_go_on` is asked every `CHECK_S`: a stream ends with the session or token that opened it.
    """

    media_type = "text/event-stream"

    def __init__(self, batches: Batches, may_go_on: Callable[[], bool]) -> None:
        self._source = _with_keep_alive(batches, may_go_on)
        super().__init__(self._source, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream until the source or the client has had enough."""
        with metrics.STREAMS.track_inprogress():
            async with aclosing(self._source):
                await super().__call__(scope, receive, send)


def resume_point(last_event_id: str | None) -> int | None:
    """The number in a Last-Event-ID header; None when there is none of ours."""
    if last_event_id is None or not last_event_id.isascii() or not last_event_id.isdigit():
        return None
    return int(last_event_id) if len(last_event_id) <= _ID_DIGITS_MAX else None


def sse(event_id: int | str, kind: str, data: object) -> bytes:
    """One server-sent event."""
    return f"id: {event_id}\nevent: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


async def _with_keep_alive(batches: Batches, may_go_on: Callable[[], bool]) -> AsyncGenerator[bytes, None]:
    """The events of all batches, with a comment whenever nothing was sent for a while."""
    loop = asyncio.get_running_loop()
    yield b": open\n\n"
    sent_at_s = checked_at_s = loop.time()
    async with aclosing(batches):
        async for batch in batches:
            if loop.time() - checked_at_s > CHECK_S:
                checked_at_s = loop.time()
                if not await anyio.to_thread.run_sync(may_go_on):
                    return
            if batch:
                yield b"".join(batch)
                sent_at_s = loop.time()
            elif loop.time() - sent_at_s > KEEP_ALIVE_S:
                yield b": still here\n\n"
                sent_at_s = loop.time()
