"""The leader lock: held by a session of PostgreSQL, so that it is released when the master or its connection dies.

A master that hangs keeps its session. So the leader also renews a lease, and a standby that sees no renewal ends that
session (`depose`). The lease is a counter, not a time: clocks of different machines are never compared.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from threading import Lock

import psycopg2
from sqlalchemy import Connection, select

from zoe_lib.store.documents.rows import from_row
from zoe_lib.store.errors import StoreUnavailable
from zoe_lib.store.sql.journal.journal import LEADER_LOCK
from zoe_lib.store.tables.installation import leader, lease
from zoe_lib.store.values import Leader

Connect = Callable[[], psycopg2.extensions.connection]

_NEXT_EPOCH = """
    INSERT INTO leader AS present (id, epoch, holder, endpoint) VALUES (1, 1, %(holder)s, %(endpoint)s)
    ON CONFLICT (id) DO UPDATE SET epoch = present.epoch + 1, holder = excluded.holder, endpoint = excluded.endpoint
    RETURNING epoch
"""
# A separate table: writers of events share a lock on the leader's row, and would wait for each renewal.
_NEW_LEASE = """
    INSERT INTO lease (id, epoch, renewals) VALUES (1, %(epoch)s, 0)
    ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch, renewals = 0
"""
_RENEW = "UPDATE lease SET renewals = renewals + 1 WHERE id = 1 AND epoch = %s"
_DEPOSE = """
    SELECT pg_terminate_backend(pid) FROM pg_locks
    WHERE locktype = 'advisory' AND granted AND classid = 0 AND objid = %s AND objsubid = 1
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND EXISTS (SELECT FROM lease WHERE id = 1 AND epoch = %s AND renewals = %s)
"""


class Leadership:
    """Takes, watches, renews and releases the leader lock on its own connection."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._connection: psycopg2.extensions.connection | None = None
        self._epoch: int | None = None
        self._lock = Lock()

    def take(self, holder: str, endpoint: str) -> int | None:
        """Return a new epoch once the lock is held; None while another session holds it."""
        with self._lock:
            if self._epoch is not None and self._has_newest_epoch():
                return self._epoch
            self._release()
            connection = self._connect()
            try:
                self._epoch = _take(connection, holder, endpoint)
            except psycopg2.Error as error:
                connection.close()
                raise StoreUnavailable(str(error).strip()) from error
            if self._epoch is None:
                connection.close()
            else:
                self._connection = connection
            return self._epoch

    def still_holds(self, epoch: int) -> bool:
        """Return whether the connection with the lock is alive and no master has taken a newer epoch."""
        with self._lock:
            return epoch == self._epoch and self._has_newest_epoch()

    def renew(self, epoch: int) -> bool:
        """Renew the lease of the epoch; False if the lock is no longer held."""
        with self._lock:
            if epoch != self._epoch or self._connection is None:
                return False
            try:
                with self._connection.cursor() as cursor:
                    cursor.execute(_RENEW, (epoch,))
                    return bool(cursor.rowcount == 1)
            except psycopg2.Error:
                self._release()
                return False

    def depose(self, seen: Leader) -> bool:
        """End the session that holds the lock, unless the lease was renewed since `seen` was read.

        Needs the same role in PostgreSQL as the leader; raises StoreUnavailable otherwise.
        """
        connection = self._connect()
        try:
            with connection.cursor() as cursor:
                cursor.execute(_DEPOSE, (LEADER_LOCK, seen.epoch, seen.renewals))
                return any(ended for (ended,) in cursor.fetchall())
        except psycopg2.Error as error:
            raise StoreUnavailable(str(error).strip()) from error
        finally:
            connection.close()

    def release(self) -> None:
        """Release the lock by closing its connection."""
        with self._lock:
            self._release()

    def _has_newest_epoch(self) -> bool:
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


def read_leader(connection: Connection) -> Leader | None:
    """Return the last leader, with its lease; None before the first."""
    query = select(leader.c.epoch, leader.c.holder, leader.c.endpoint, lease.c.renewals)
    row = connection.execute(query.join(lease, lease.c.epoch == leader.c.epoch)).first()
    return None if row is None else from_row(Leader, row)


def _take(connection: psycopg2.extensions.connection, holder: str, endpoint: str) -> int | None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", (LEADER_LOCK,))
        if cursor.fetchone() != (True,):
            return None
        cursor.execute(_NEXT_EPOCH, {"holder": holder, "endpoint": endpoint})
        row = cursor.fetchone()
        assert row is not None
        epoch: int = row[0]
        cursor.execute(_NEW_LEASE, {"epoch": epoch})
        return epoch
