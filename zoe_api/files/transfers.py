"""Bytes of files through the API, in both directions: as fast as the slower side, until access ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager

import httpx
from fastapi import Request
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from zoe_api.apps.forwarding import BrokeOff
from zoe_api.http.problems.problems import ApiProblem, problem_response
from zoe_api.services.stream import CHECK_S

# Refused parts are read to their end, within this limit, so that the client reads the response instead of a closed
# connection.
_DRAINED_BYTES_MAX = 64 << 20


class AccessEnded(Exception):  # noqa: N818 - the name is the fact
    """The session or token that a transfer began with is no longer valid."""


class FileContent(StreamingResponse):
    """The content of a file or archive. It holds its place until the end; then it awaits `close`."""

    def __init__(
        self,
        pieces: AsyncIterator[bytes],
        headers: dict[str, str],
        may_go_on: Callable[[], bool],
        place: AbstractContextManager[None],
        close: Callable[[], Awaitable[None]],
        status_code: int = 200,
    ) -> None:
        self._close = close
        self._place = place
        allowed = while_allowed(pieces, may_go_on)
        super().__init__(allowed, status_code, headers, media_type="application/octet-stream")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the content until it ends or the client leaves."""
        try:
            with self._place:
                await super().__call__(scope, receive, send)
        except ApiProblem as refused:
            await problem_response(refused.for_path(scope["path"]))(scope, receive, send)
        finally:
            await self._close()


async def while_allowed(pieces: AsyncIterator[bytes], may_go_on: Callable[[], bool]) -> AsyncIterator[bytes]:
    """Yield pieces; AccessEnded soon after access has ended."""
    loop = asyncio.get_running_loop()
    checked_at_s = loop.time()
    async for piece in pieces:
        if loop.time() - checked_at_s > CHECK_S:
            checked_at_s = loop.time()
            if not await run_in_threadpool(may_go_on):
                raise AccessEnded
        yield piece


async def drain(request: Request) -> None:
    """Read the rest of a request, up to a limit."""
    came = 0
    try:
        async for piece in request.stream():
            came += len(piece)
            if came > _DRAINED_BYTES_MAX:
                return
    except (ClientDisconnect, RuntimeError):
        return


async def pieces_of(answer: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the content of an answer as it is sent; BrokeOff."""
    try:
        async for piece in answer.aiter_raw():
            yield piece
    except httpx.TransportError as error:
        raise BrokeOff(str(error) or type(error).__name__) from None
