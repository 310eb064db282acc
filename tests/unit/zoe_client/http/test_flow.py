"""Calls with several requests: written once, for a thread and for an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

from zoe_client import AsyncClient, Client, NotFound, TimedOut
from zoe_client.http.flow import BlockingFlow, answer_to

EVENTS = b"".join(b"id: %d\nevent: log\ndata: {}\n\n" % number for number in range(3))


class Content(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The beginning of a stream that does not end by itself."""

    def __init__(self) -> None:
        self.closed = False

    def __iter__(self) -> Iterator[bytes]:
        yield EVENTS

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield EVENTS

    def close(self) -> None:
        self.closed = True

    async def aclose(self) -> None:
        self.closed = True


def clients(*answers: int | Content) -> tuple[Client, AsyncClient]:
    """A blocking client and one for asyncio, each of which gets these answers."""

    def transport() -> httpx.MockTransport:
        left = list(answers)
        return httpx.MockTransport(lambda _: response_of(left.pop(0)))

    return Client("http://zoe", "t", transport=transport()), AsyncClient("http://zoe", "t", transport=transport())


def response_of(given: int | Content) -> httpx.Response:
    return httpx.Response(given, text="there") if isinstance(given, int) else httpx.Response(200, stream=given)


async def look_twice(client: Any) -> str:
    """Request a missing object, and then pause and request an existing one."""
    with pytest.raises(NotFound):
        await answer_to(client.text("/away"))
    await answer_to(client.flow.pause(0))
    return await answer_to(client.text("/there"))


def test_steps_come_to_the_same_in_a_thread_and_on_a_loop() -> None:
    blocking, later = clients(404, 200)
    assert blocking.flow.perform(look_twice(blocking)) == "there"
    assert asyncio.run(later.flow.perform(look_twice(later))) == "there"

    async def within_a_loop() -> str:
        return blocking.flow.perform(look_twice(clients(404, 200)[0]))

    assert asyncio.run(within_a_loop()) == "there", "as in a notebook, which has a loop"


def test_steps_of_a_blocking_client_await_nothing_else() -> None:
    blocking, _ = clients(200)
    with pytest.raises(RuntimeError, match="asyncio"):
        BlockingFlow(blocking._http).perform(asyncio.sleep(0))


def test_a_stream_that_is_left_is_closed() -> None:
    content = Content()
    blocking, _ = clients(content)
    for event in blocking.stream("/events", {}):
        assert not content.closed
        assert event.id == "0"
        break
    assert content.closed


async def leave(later: AsyncClient, content: Content) -> None:
    async for event in later.stream("/events", {}):
        assert event.id == "0"
        break
    async with asyncio.timeout(10):
        while not content.closed:
            await asyncio.sleep(0)


def test_a_stream_that_is_left_is_closed_on_a_loop() -> None:
    content = Content()
    asyncio.run(leave(clients(content)[1], content))


def test_a_stream_is_closed_when_its_time_is_over() -> None:
    content = Content()
    blocking, _ = clients(content)
    events = blocking.stream("/events", {}, deadline_s=0.0)
    assert next(events).id == "0"
    with pytest.raises(TimedOut) as raised:
        next(events)
    assert content.closed, "though the error, with its frames, is still there"
    assert raised.traceback
