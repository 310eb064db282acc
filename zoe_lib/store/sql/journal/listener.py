"""Notifications from PostgreSQL: one connection and one thread per store, however many subscribers there are."""

from __future__ import annotations

import contextlib
import logging
import os
import select
from collections.abc import Callable
from threading import Lock, Thread, current_thread

import psycopg2

from zoe_lib.store.errors import StoreUnavailable
from zoe_lib.store.sql.journal.journal import CHANNEL

PAUSE_S_MIN = 0.1
PAUSE_S_MAX = 5.0
_log = logging.getLogger(__name__)

Notify = Callable[[], None]


class Listener:
    """Calls its subscribers after each commit, and after a lost connection is restored, since notifications may have
    been missed.
    """

    def __init__(self, connect: Callable[[], psycopg2.extensions.connection]) -> None:
        self._connect = connect
        self._subscribers: dict[object, Notify] = {}
        self._lock = Lock()
        self._thread: Thread | None = None
        self._wake: int | None = None

    def subscribe(self, notify: Notify) -> ListenerSubscription:
        """Add a subscriber; the first one starts the thread, which if possible listens before this returns."""
        subscription = ListenerSubscription(self)
        with self._lock:
            if self._thread is None:
                self._start()
            self._subscribers[subscription] = notify
        return subscription

    def unsubscribe(self, subscription: object) -> None:
        """Remove a subscriber; the last one ends the thread."""
        with self._lock:
            self._subscribers.pop(subscription, None)
            thread = None if self._subscribers else self._stop()
        _join(thread)

    def close(self) -> None:
        """End the thread and its connection."""
        with self._lock:
            self._subscribers.clear()
            thread = self._stop()
        _join(thread)

    def _stop(self) -> Thread | None:
        thread, self._thread = self._thread, None
        if self._wake is not None:
            os.close(self._wake)  # the other end of the pipe becomes readable
            self._wake = None
        return thread

    def _start(self) -> None:
        stop, self._wake = os.pipe()
        connection = self._open()
        self._thread = Thread(target=self._run, args=(connection, stop), name="store-listener", daemon=True)
        self._thread.start()

    def _open(self) -> psycopg2.extensions.connection | None:
        try:
            connection = self._connect()
        except StoreUnavailable:
            return None
        try:
            with connection.cursor() as cursor:
                cursor.execute(f"LISTEN {CHANNEL}")
        except psycopg2.Error:
            connection.close()
            return None
        return connection

    def _run(self, connection: psycopg2.extensions.connection | None, stop: int) -> None:
        pause_s = PAUSE_S_MIN
        try:
            while True:
                if connection is not None:
                    if self._wait(connection, stop):
                        return
                    pause_s = PAUSE_S_MIN
                if select.select([stop], [], [], pause_s)[0]:
                    return
                pause_s = min(2 * pause_s, PAUSE_S_MAX)
                connection = self._open()
                if connection is not None:
                    self._notify_subscribers()
        finally:
            os.close(stop)

    def _wait(self, connection: psycopg2.extensions.connection, stop: int) -> bool:
        """Forward notifications until stopped (True) or until the connection is lost and closed (False)."""
        with contextlib.closing(connection), contextlib.suppress(psycopg2.Error):
            while True:
                readable, _, _ = select.select([connection.fileno(), stop], [], [])
                if stop in readable:
                    return True
                connection.poll()
                if connection.notifies:
                    connection.notifies.clear()
                    self._notify_subscribers()
        return False

    def _notify_subscribers(self) -> None:
        with self._lock:
            subscribers = list(self._subscribers.values())
        for notify in subscribers:
            try:
                notify()
            except Exception:
                _log.exception("a subscriber to the journal failed")


def _join(thread: Thread | None) -> None:
    if thread is not None and thread is not current_thread():
        thread.join()


class ListenerSubscription:
    """One subscriber of a listener."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def close(self) -> None:
        """End the subscription."""
        self._listener.unsubscribe(self)
