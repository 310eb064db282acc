"""Turn methods of the blocking client into methods that are awaited."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from zoe_client.http.async_transport import AsyncTransport

P = ParamSpec("P")
T = TypeVar("T")
Method = Callable[Concatenate[Any, P], T]


def awaited(method: Method[P, T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """Return the same method for a client whose transport returns coroutines.

    A method that makes one request and returns its answer returns a coroutine of the answer there.
    """

    @wraps(method)
    def later(self: Any, /, *given: P.args, **named: P.kwargs) -> Coroutine[Any, Any, T]:
        coroutine: Coroutine[Any, Any, T] = method(self, *given, **named)  # type: ignore[assignment]
        return coroutine

    return later


def iterated(method: Method[P, Iterator[T]]) -> Callable[Concatenate[Any, P], AsyncIterator[T]]:
    """Return the same method for a client whose streams are read with `async for`."""

    @wraps(method)
    def later(self: Any, /, *given: P.args, **named: P.kwargs) -> AsyncIterator[T]:
        stream: AsyncIterator[T] = method(self, *given, **named)  # type: ignore[assignment]
        return stream

    return later


def threaded(method: Method[P, T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """Return the same method as a coroutine that runs in a thread, on the object's attribute `blocking`."""
    import asyncio

    @wraps(method)
    async def in_thread(self: Any, /, *given: P.args, **named: P.kwargs) -> T:
        return await asyncio.to_thread(method, self.blocking, *given, **named)

    return in_thread


class AsyncPart:
    """Some calls of an `AsyncClient`."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport
