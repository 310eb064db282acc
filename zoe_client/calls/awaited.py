"""Calls of the client that are awaited."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from zoe_client.http.async_transport import AsyncTransport

P = ParamSpec("P")
T = TypeVar("T")
Method = Callable[Concatenate[Any, P], T]


def awaited(method: Method[P, T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """Return the same method for a client whose transport answers later.

    A method that makes a request, and returns what that comes to, returns a coroutine there.
    """

    @wraps(method)
    def later(self: Any, /, *given: P.args, **named: P.kwargs) -> Coroutine[Any, Any, T]:
        coroutine: Coroutine[Any, Any, T] = method(self, *given, **named)  # type: ignore[assignment]
        return coroutine

    return later


def iterated(method: Method[P, Iterator[T]]) -> Callable[Concatenate[Any, P], AsyncIterator[T]]:
    """Return the same method for a client whose streams are used with `async for`."""

    @wraps(method)
    def later(self: Any, /, *given: P.args, **named: P.kwargs) -> AsyncIterator[T]:
        stream: AsyncIterator[T] = method(self, *given, **named)  # type: ignore[assignment]
        return stream

    return later


def threaded(method: Method[P, T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """Return the same method, run in a thread, of an object whose attribute `blocking` has it."""
    import asyncio

    @wraps(method)
    async def in_thread(self: Any, /, *given: P.args, **named: P.kwargs) -> T:
        return await asyncio.to_thread(method, self.blocking, *given, **named)

    return in_thread


class AsyncPart:
    """Some calls of an `AsyncClient`."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport
