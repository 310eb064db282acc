"""How a client waits: in a thread, or on an event loop. What takes several requests is written once for both.

It is a coroutine that awaits `answer_to` each call and `next_of` each stream. In a blocking client both are there at
once: the coroutine never suspends, and needs no event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterator, Sequence
from typing import Any, TypeVar

import httpx

from zoe_client.http.problems import problem_of, unreachable

T = TypeVar("T")
Steps = Coroutine[Any, Any, T]


async def answer_to(call: T | Awaitable[T]) -> T:
    """Return the answer to a call. call: what it returned: the answer, or with asyncio a coroutine of it."""
    if isinstance(call, Awaitable):
        found: T = await call
        return found
    return call


async def next_of(stream: Iterator[T] | AsyncIterator[T]) -> T | None:
    """Return the next item of a stream; None after its end."""
    if isinstance(stream, AsyncIterator):
        return await anext(stream, None)
    return next(stream, None)


async def close(stream: Generator[Any, None, None] | AsyncGenerator[Any, None]) -> None:
    """End a stream that is not read any more."""
    if isinstance(stream, AsyncGenerator):
        await stream.aclose()
    else:
        stream.close()


class BlockingFlow:
    """Wait in the caller's thread."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def perform(self, steps: Steps[T]) -> T:
        """Take several requests, and return what they come to."""
        try:
            steps.send(None)
        except StopIteration as end:
            found: T = end.value
            return found
        steps.close()
        raise RuntimeError("a blocking client cannot await asyncio")

    def pause(self, seconds: float) -> Awaitable[None] | None:
        """Wait for some seconds."""
        time.sleep(seconds)
        return None

    def each(self, more: Callable[[], Steps[Sequence[T] | None]]) -> Iterator[T]:
        """Yield all items. more: returns those that follow, maybe none yet; None after the end."""
        while (found := self.perform(more())) is not None:
            yield from found

    def lines(self, path: str, how: dict[str, Any]) -> Generator[str, None, None]:
        """Yield the lines of an answer as they come; Unreachable, Refused. how: options of `httpx.Client.stream`."""
        try:
            with self._http.stream("GET", path, **how) as response:
                if response.is_error:
                    response.read()
                    raise problem_of(response)
                yield from response.iter_lines()
        except httpx.TransportError as error:
            raise unreachable(self._http, error) from None


class AsyncFlow:
    """Wait on asyncio's event loop."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    def perform(self, steps: Steps[T]) -> Steps[T]:
        """Return the steps, to be awaited."""
        return steps

    async def pause(self, seconds: float) -> None:
        """Wait for some seconds."""
        await asyncio.sleep(seconds)

    async def each(self, more: Callable[[], Steps[Sequence[T] | None]]) -> AsyncIterator[T]:
        """Yield all items."""
        while (found := await more()) is not None:
            for one in found:
                yield one

    async def lines(self, path: str, how: dict[str, Any]) -> AsyncGenerator[str, None]:
        """Yield the lines of an answer as they come; Unreachable, Refused."""
        try:
            async with self._http.stream("GET", path, **how) as response:
                if response.is_error:
                    await response.aread()
                    raise problem_of(response)
                async for line in response.aiter_lines():
                    yield line
        except httpx.TransportError as error:
            raise unreachable(self._http, error) from None
