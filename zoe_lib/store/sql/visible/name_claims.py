"""Claims on names in the object store, so that only one request at a time uses a name."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from zoe_lib.store.errors import ConcurrentUpdate
from zoe_lib.store.tables.accounts import name_claims

_LOCK = 0x5A6F65_06
_IT = name_claims.c


def claim(connection: Connection, ids: Collection[str], holder: str, now_s: float, until_s: float) -> None:
    """Claim all of the names for a holder until `until_s`, and remove expired claims; ConcurrentUpdate if one is
    claimed.
    """
    connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))  # so that two transactions never deadlock on rows
    connection.execute(delete(name_claims).where(_IT.until_s <= now_s))
    rows = [{"id": name_id, "holder": holder, "until_s": until_s} for name_id in set(ids)]
    if connection.execute(insert(name_claims).values(rows).on_conflict_do_nothing()).rowcount != len(rows):
        raise ConcurrentUpdate("another request has claimed one of these names")


def release(connection: Connection, holder: str) -> None:
    """Remove the claims of a holder."""
    connection.execute(delete(name_claims).where(_IT.holder == holder))
