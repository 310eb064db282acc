"""The leader lock: held by a session of PostgreSQL, so that it falls when the master or its connection dies."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from threading import Lock

import psycopg2

from zoe_lib.store.base import StoreUnavailable
from zoe_lib.store.sql.journal import LEADER_LOCK

Connect = Callable[[], psycopg2.extensions.connection]

_NEXT_EPOCH = """
    INSERT INTO leader AS present (id, epoch, holder) VALUES (1, 1, %s)
    ON CONFLICT (id) DO UPDATE SET epoch = present.epoch + 1, holder = excluded.holder
    RETURNING epoch
"""


class Leadership:
    """Takes, watches and releases the leader lock on a connection of its own."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._connection: psycopg2.extensions.connection | None = None
        self._epoch: int | None = None
        self._lock = Lock()

    def take(self, holder: str) -> int | None:
        """The lock and a new epoch; None while another session holds it."""
        with self._lock:
            if self._epoch is not None and self._holds():
                return self._epoch
            self._release()
            connection = self._connect()
            try:
                self._epoch = _take(connection, holder)
            except psycopg2.Error as error:
                connection.close()
                raise StoreUnavailable(str(error).strip()) from error
            if self._epoch is None:
                connection.close()
            else:
                self._connection = connection
            return self._epoch

    def still_holds(self, epoch: int) -> bool:
        """Whether the connection that carries the lock is alive and nobody has taken a newer epoch."""
        with self._lock:
            return epoch == self._epoch and self._holds()

    def release(self) -> None:
        """Let the lock go by closing its connection."""
        with self._lock:
            self._release()

    def _holds(self) -> bool:
        if self._connection is None:
            return False
        try:
            with self._connection.cursor() as cursor:
                cursor.execute("SELECT epoch FROM leader WHERE id = 1")
                row = cursor.fetchone()
        except psycopg2.Error:
            self._release()
            return False
        return row is not None and row[0] == self._epoch

    def _release(self) -> None:
        self._epoch = None
        if self._connection is not None:
            with contextlib.suppress(psycopg2.Error):
                self._connection.close()
            self._connection = None


def _take(connection: psycopg2.extensions.connection, holder: str) -> int | None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", (LEADER_LOCK,))
        if cursor.fetchone() != (True,):
            return None
        cursor.execute(_NEXT_EPOCH, (holder,))
        row = cursor.fetchone()
        assert row is not None
        epoch: int = row[0]
        return epoch
