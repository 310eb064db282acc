"""Leader election among controllers with one database: the leader renews a lease, and the others stand by.

The leader increments a counter. A standby that sees no change for the duration of the lease, by its own monotonic
clock, takes over with a higher epoch. Each transaction of the leader compares the epoch, so a leader that was paused
changes nothing when it resumes; and proxies ignore limits of lower epochs.
"""

from __future__ import annotations

import logging
import threading

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from storage_controller.answers import RequestRefusedError
from storage_controller.database.tables import lead
from zoe_lib.clock import SYSTEM_CLOCK, Clock

_log = logging.getLogger(__name__)
_LOOKS_IN_A_LEASE = 5
STANDBY = "this storage controller stands by; another one leads"
_Row = tuple[int, str, int]


class Lead:
    """The lead of the controller `name`, one of several with this database. Thread-safe."""

    def __init__(self, engine: sa.Engine, name: str, lease_s: float, clock: Clock = SYSTEM_CLOCK) -> None:
        self._engine = engine
        self._name = name
        self._lease_s = lease_s
        self._clock = clock
        self._epoch: int | None = None
        self._seen: _Row | None = None
        self._since_s = 0.0
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="zoe-lead", daemon=True)

    @property
    def epoch(self) -> int | None:
        """Return the epoch of this leader; None on standby."""
        return self._epoch

    def begin(self) -> None:
        """Check the lease once, and start the thread that continues to do so."""
        self._try()
        self._thread.start()

    def close(self) -> None:
        """End the thread, and release the lead."""
        self._closing.set()
        self._thread.join()
        if self._epoch is not None:
            try:
                with self._engine.begin() as connection:
                    connection.execute(sa.update(lead).where(lead.c.epoch == self._epoch).values(holder=""))
            except SQLAlchemyError as error:
                _log.warning("cannot release the lead: %s", error)
            self._epoch = None

    def check(self, connection: sa.Connection) -> None:
        """Hold the lead until the end of the transaction. Raises RequestRefusedError if another controller leads."""
        if self._epoch is not None:
            held = sa.select(lead.c.epoch).where(lead.c.epoch == self._epoch).with_for_update(read=True, key_share=True)
            if connection.execute(held).first() is not None:
                return
            self._lose()
        raise RequestRefusedError(503, STANDBY)

    def look(self) -> None:
        """Renew the lease, or take over from a leader that did not. Raises SQLAlchemyError."""
        with self._engine.begin() as connection:
            if self._epoch is not None:
                renewed = sa.update(lead).where(lead.c.epoch == self._epoch).values(renewals=lead.c.renewals + 1)
                if connection.execute(renewed).rowcount == 0:
                    self._lose()
                return
            epoch, holder, renewals = connection.execute(sa.select(lead.c.epoch, lead.c.holder, lead.c.renewals)).one()
            row, now_s = (int(epoch), str(holder), int(renewals)), self._clock.monotonic_s()
            if row != self._seen:
                self._seen, self._since_s = row, now_s
            free = holder in ("", self._name) or now_s - self._since_s >= self._lease_s
            taken = self._take(connection, row) if free else None
        self._epoch = taken

    def _take(self, connection: sa.Connection, row: _Row) -> int | None:
        """Return the new epoch: the time in nanoseconds, but always above the last one."""
        epoch = max(row[0] + 1, int(self._clock.now_s() * 1e9))
        same = sa.and_(lead.c.epoch == row[0], lead.c.renewals == row[2])
        taken = sa.update(lead).where(same).values(epoch=epoch, holder=self._name, renewals=0)
        return epoch if connection.execute(taken).rowcount else None

    def _lose(self) -> None:
        _log.warning("another storage controller leads; this one stands by")
        self._epoch = None

    def _try(self) -> None:
        before = self._epoch
        try:
            self.look()
        except SQLAlchemyError as error:
            _log.warning("cannot check the lease: %s", error)
        if before is None and self._epoch is not None:
            _log.info("leading with epoch %s", self._epoch)

    def _run(self) -> None:
        while not self._clock.wait(self._closing, self._lease_s / _LOOKS_IN_A_LEASE):
            self._try()
