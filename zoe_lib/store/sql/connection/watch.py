"""End connections that wait for a server that does not answer at all, such as a paused one.

The server's own time limits do not help then, and its machine still acknowledges packets. Only a new connection
distinguishes it from a slow statement: its handshake needs a working server.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import psycopg2
import structlog
from sqlalchemy import Connection

from zoe_lib.clock import SYSTEM_CLOCK, Clock

log = structlog.get_logger(__name__)

PATIENCE_S = 3.0
_LOOK_S = 1.0


@dataclass(eq=False, slots=True)
class _Work:
    since_s: float
    connection: psycopg2.extensions.connection | None = None


class ConnectionWatch:
    """Watches the connections of one process. `hangs` tries a new one, and returns whether the server left it
    waiting.
    """

    def __init__(self, hangs: Callable[[], bool], clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._hangs = hangs
        self._lock = threading.Lock()
        self._under_way: set[_Work] = set()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def under_way(self) -> Iterator[Callable[[Connection], None]]:
        """Watch the connection that is handed to the function, until the block ends."""
        work = _Work(self._clock.monotonic_s())
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="database-watch", daemon=True)
                self._thread.start()
            self._under_way.add(work)

        def watch(connection: Connection) -> None:
            work.connection = connection.connection.driver_connection

        try:
            yield watch
        finally:
            with self._lock:
                self._under_way.discard(work)

    def close(self) -> None:
        """Stop watching."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()

    def _look(self) -> None:
        while not self._clock.wait(self._closed, _LOOK_S):
            if self._waiting() and self._hangs():
                self._cut()

    def _waiting(self) -> list[_Work]:
        long_ago_s = self._clock.monotonic_s() - PATIENCE_S
        with self._lock:
            return [work for work in self._under_way if work.since_s < long_ago_s and work.connection is not None]

    def _cut(self) -> None:
        waiting = self._waiting()
        log.warning("the database does not answer", connections=len(waiting))
        for work in waiting:
            with self._lock, suppress(OSError, psycopg2.Error):
                if work in self._under_way and work.connection is not None:
                    _shut(work.connection)


def _shut(connection: psycopg2.extensions.connection) -> None:
    """Shut a connection that another thread waits for: that thread gets the error of a lost connection."""
    with socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)
