"""Pass the messages of a terminal on, both ways, for as long as its client may use it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from zoe_client.calls import frames
from zoe_lib.clock import SYSTEM_CLOCK, Clock

_CONNECT_S = 5.0
# How long a terminal may outlive its session, token or share.
CHECK_S = 3.0
# How long a terminal may last while the database does not answer.
UNTOLD_MAX_S = 60.0
_CLOSE_S = 2.0
DONE, GOING_AWAY, TRY_AGAIN = 1000, 1001, 1013
REFUSED = frames.REFUSED
_FROM_CLIENT = (frames.INPUT, frames.INPUT_END, frames.SIZE, frames.TAKEN)


async def connect(host: str, port: int, secret: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Return the connection to a terminal's process; OSError if there is none."""
    async with asyncio.timeout(_CONNECT_S):
        reader, writer = await asyncio.open_connection(host, port, limit=frames.CONTENT_MAX)
    writer.write(secret.encode())
    return reader, writer


async def bridge(
    client: WebSocket,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    allowed: Callable[[], Awaitable[bool | None]],
    stopping: asyncio.Event,
) -> None:
    """Return when one side has ended, the client is not `allowed` any more, or the process is `stopping`.

    The windows of both sides limit buffering: this holds at most one message in each direction.
    """
    ways: dict[asyncio.Task[object], tuple[int, str]] = {
        _task(_up(client, writer)): (REFUSED, "a message that a terminal does not know"),
        _task(_down(client, reader)): (DONE, ""),
        _task(watch(allowed)): (REFUSED, "your access to this terminal has ended, or cannot be confirmed"),
        _task(stopping.wait()): (GOING_AWAY, "this server stops; open the terminal again"),
    }
    try:
        done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        code, reason = ways[done.pop()]
    finally:
        for task in ways:
            task.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        writer.transport.abort()
    await close(client, code, reason)


async def close(client: WebSocket, code: int, reason: str) -> None:
    """Close an open WebSocket, even if its client does not read."""
    if client.application_state is WebSocketState.CONNECTED and client.client_state is WebSocketState.CONNECTED:
        with suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                await client.close(code, reason)


def _task(way: Coroutine[Any, Any, object]) -> asyncio.Task[object]:
    return asyncio.create_task(way)


async def _up(client: WebSocket, writer: asyncio.StreamWriter) -> None:
    with suppress(WebSocketDisconnect, OSError):
        while True:
            event = await client.receive()
            message = event.get("bytes") or b""
            if message[:1] not in _FROM_CLIENT or len(message) > frames.CONTENT_MAX + 1:
                return
            writer.write(frames.add_length(message))
            await writer.drain()


async def _down(client: WebSocket, reader: asyncio.StreamReader) -> None:
    with suppress(WebSocketDisconnect, OSError, RuntimeError, asyncio.IncompleteReadError):
        while True:
            message = await reader.readexactly(frames.length_of(await reader.readexactly(frames.LENGTH_BYTES)))
            await client.send_bytes(message)


async def watch(allowed: Callable[[], Awaitable[bool | None]], clock: Clock = SYSTEM_CLOCK) -> None:
    """Return when a client is not allowed any more, or after the check had no answer for UNTOLD_MAX_S (None)."""
    told_s = clock.monotonic_s()
    while (answer := await allowed()) is not False:
        if answer:
            told_s = clock.monotonic_s()
        elif clock.monotonic_s() - told_s > UNTOLD_MAX_S:
            return
        await asyncio.sleep(CHECK_S)
