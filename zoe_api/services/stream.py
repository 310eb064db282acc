"""Server-sent events: journal and logs as streams that a client can resume."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager, aclosing

import anyio
import anyio.to_thread
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from zoe_api.http import metrics
from zoe_api.http.problems.problems import ApiProblem, problem_response

Batches = AsyncGenerator[list[bytes], None]

# A comment line now and then keeps balancers and browsers from closing a quiet stream.
KEEP_ALIVE_S = 15.0
# How long a stream may outlive its session or token.
CHECK_S = 10.0
_ID_DIGITS_MAX = 18


class EventStream(StreamingResponse):
    """A response of server-sent events; when the client leaves, it closes its source.

    `may_go_on` is called every `CHECK_S`: a stream ends with its session or token. The response holds `place`
    meanwhile; if none is free, it is the refusal. The stream also ends when `stopping` is set.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        batches: Batches,
        may_go_on: Callable[[], bool],
        place: AbstractContextManager[None],
        stopping: asyncio.Event,
    ) -> None:
        self._source = _with_keep_alive(batches, may_go_on)
        self._place = place
        self._stopping = stopping
        super().__init__(self._source, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream until the source ends or the client leaves."""
        try:
            with self._place, metrics.STREAMS.track_inprogress():
                async with aclosing(self._source):
                    if await self._stream_until_stop(scope, receive, send):
                        await send({"type": "http.response.body", "body": b"", "more_body": False})
        except ApiProblem as refused:
            await problem_response(refused.for_path(scope["path"]))(scope, receive, send)

    async def _stream_until_stop(self, scope: Scope, receive: Receive, send: Send) -> bool:
        """Stream to the end; return True if the process stops before it."""
        bound = asyncio.timeout(None)

        async def end_with_process() -> None:
            await self._stopping.wait()
            bound.reschedule(0)

        watcher = asyncio.create_task(end_with_process())
        try:
            async with bound:
                await super().__call__(scope, receive, send)
        except TimeoutError:
            if not bound.expired():
                raise
        finally:
            watcher.cancel()
        return bound.expired()


def resume_point(last_event_id: str | None) -> int | None:
    """Return the number in a Last-Event-ID header; None if it is missing or invalid."""
    if last_event_id is None or not last_event_id.isascii() or not last_event_id.isdigit():
        return None
    return int(last_event_id) if len(last_event_id) <= _ID_DIGITS_MAX else None


async def _with_keep_alive(batches: Batches, may_go_on: Callable[[], bool]) -> AsyncGenerator[bytes, None]:
    """Yield the events of all batches, and a comment when nothing was sent for a while."""
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
