"""Limit requests that strangers begin and users finish, such as sign-ins: each network has a share."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, Table, delete, func, select

from zoe_lib.store.errors import TooManyWaiting

WAITING_LOCK = 0x5A6F65_07


@dataclass(frozen=True, slots=True)
class WaitingBounds:
    """Maximum rows of one network, and of all networks."""

    of_network_max: int
    in_all_max: int


def make_room(connection: Connection, table: Table, network: str, now_s: float, bounds: WaitingBounds) -> None:
    """Remove expired rows, and make room for one more row of a network until the transaction ends; TooManyWaiting.

    If the table is full, the network with most rows loses its oldest one, unless this network has as many: so one
    network, or a few, never block others.
    """
    connection.execute(select(func.pg_advisory_xact_lock(WAITING_LOCK)))  # so that no two take the last place
    rows = table.c
    connection.execute(delete(table).where(rows.expires_at_s <= now_s))
    counted = select(func.count(), func.count().filter(rows.network == network)).select_from(table)
    in_all, of_network = connection.execute(counted).one()
    if of_network >= bounds.of_network_max:
        raise TooManyWaiting(
            f"{of_network} sign-ins from your address are unfinished, which is the maximum; try again in some minutes"
        )
    if in_all < bounds.in_all_max:
        return
    by_network = select(rows.network, func.count().label("count")).group_by(rows.network).subquery()
    most = connection.execute(select(func.max(by_network.c.count))).scalar_one()
    if most <= of_network:
        raise TooManyWaiting(f"{in_all} sign-ins are unfinished, which is the maximum; try again in some minutes")
    largest = select(by_network.c.network).where(by_network.c.count == most)
    oldest = select(rows.id).where(rows.network.in_(largest)).order_by(rows.expires_at_s).limit(1)
    connection.execute(delete(table).where(rows.id.in_(oldest)))
