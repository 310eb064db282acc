"""A WebSocket that several threads share.

The library's own client for threads reads in one thread while others write. OpenSSL forbids that for one TLS session
(https://github.com/openssl/openssl/issues/20446), and handshakes or messages are lost now and then. Here, the thread of
an event loop does both.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedOK

_CLOSE_S = 10.0
_STOP_S = 1.0

T = TypeVar("T")


class ThreadSocket:
    """One connection. Receive in one thread, send from any; ConnectionClosed after its end."""

    def __init__(self, address: str, **options: Any) -> None:
        self._lock = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="websocket", daemon=True)
        self._closed = False
        self._thread.start()
        try:
            self._socket = self._wait(_open(address, options))
        except BaseException:
            self._stop()
            raise

    def receive(self) -> str | bytes:
        """Return the next message."""
        return self._wait(self._socket.recv())

    def send(self, message: str | bytes) -> None:
        """Send a message; wait while the other side takes none."""
        self._wait(self._socket.send(message))

    def close(self) -> None:
        """Close the connection and wake all waiting threads, within 10 s even if the server does not answer."""
        try:
            self._wait(_close(self._socket))
        except ConnectionClosedOK:
            return  # closed by another thread
        finally:
            self._stop()

    def _wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        with self._lock:
            if self._closed:
                coroutine.close()
                raise ConnectionClosedOK(None, None)
            future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except CancelledError:  # cancelled at the end of the loop
            raise ConnectionClosedOK(None, None) from None
        except BaseException:  # such as Ctrl-C, after which no thread waits for the result
            future.cancel()
            raise

    def _stop(self) -> None:
        with self._lock:
            if self._closed:
                return  # another thread stops the loop
            self._closed = True
        try:
            asyncio.run_coroutine_threadsafe(_end_others(), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


async def _open(address: str, options: dict[str, Any]) -> ClientConnection:
    return await connect(address, **options)


async def _close(connection: ClientConnection) -> None:
    try:
        async with asyncio.timeout(_CLOSE_S):
            await connection.close()
    except TimeoutError:  # close() waits until earlier messages are sent
        connection.transport.abort()


async def _end_others() -> None:
    """Let waiting tasks see the end of the connection, and cancel the rest."""
    waiting = asyncio.all_tasks() - {asyncio.current_task()}
    if waiting:
        _, left = await asyncio.wait(waiting, timeout=_STOP_S)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
