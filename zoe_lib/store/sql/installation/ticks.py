"""Records of ticks: facts outside the journal."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, func, insert, select

from zoe_lib.store.documents.codec import encode
from zoe_lib.store.documents.rows import from_row
from zoe_lib.store.sql.batch.writing import check_leader
from zoe_lib.store.tables.installation import ticks
from zoe_lib.store.values import TickRecord


def add_tick(connection: Connection, tick: TickRecord, leader_epoch: int) -> None:
    """Store a record."""
    check_leader(connection, leader_epoch)
    connection.execute(insert(ticks).values(**encode(tick)))


def read_ticks(connection: Connection, from_s: float, to_s: float) -> Sequence[TickRecord]:
    """Return records from the last complete one before `from_s` on."""
    start: int | None = connection.execute(
        select(func.max(ticks.c.id)).where(ticks.c.whole, ticks.c.at_s <= from_s)
    ).scalar_one()
    if start is None:
        return ()
    wanted = select(ticks).where(ticks.c.id >= start, ticks.c.at_s <= to_s).order_by(ticks.c.id)
    return [from_row(TickRecord, row) for row in connection.execute(wanted)]


def earliest_s(connection: Connection) -> float | None:
    """Return the time of the first complete record."""
    first = select(ticks.c.at_s).where(ticks.c.whole).order_by(ticks.c.id).limit(1)
    found: float | None = connection.execute(first).scalar_one_or_none()
    return found
