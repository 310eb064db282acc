"""Run the steps of a call in a thread, or on an event loop, so that calls with several requests are written once.

Such a call is a coroutine that awaits `answer_to` each request and `next_of` each stream. In a blocking client both
return at once: the coroutine never suspends, and needs no event loop.
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
    """Return the answer to a call. call: the answer itself or, with asyncio, a coroutine of it."""
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
    """Close a stream before its end."""
    if isinstance(stream, AsyncGenerator):
        await stream.aclose()
    else:
        stream.close()


class BlockingFlow:
    """Run calls in the caller's thread."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def perform(self, steps: Steps[T]) -> T:
        """Run the steps of a call, and return its result."""
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

    def iterate(self, more: Callable[[], Steps[Sequence[T] | None]]) -> Iterator[T]:
        """Yield all items. more: returns the next ones, possibly none yet; None after the end."""
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
    """Run calls on asyncio's event loop."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    def perform(self, steps: Steps[T]) -> Steps[T]:
        """Return the steps, to be awaited."""
        return steps

    async def pause(self, seconds: float) -> None:
        """Wait for some seconds."""
        await asyncio.sleep(seconds)

    async def iterate(self, more: Callable[[], Steps[Sequence[T] | None]]) -> AsyncIterator[T]:
        """Yield all items."""
        while (found := await more()) is not None:
            for t in found:
                yield t

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
