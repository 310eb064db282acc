"""Queries of executions to the object store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

from sqlalchemy import Connection, select
from sqlalchemy.dialects.postgresql import insert

from zoe_lib.domain.executions.execution import ExecutionId
from zoe_lib.domain.values.store_queries import StoreQuery, with_newer
from zoe_lib.store.tables.executions import executions, store_queries


def add(connection: Connection, execution_id: ExecutionId, newer: Sequence[StoreQuery]) -> None:
    """Add queries of an execution; nothing for an unknown one."""
    # The lock keeps it from being removed, and two reports apart.
    there = select(executions.c.id).where(executions.c.id == execution_id).with_for_update(key_share=True)
    if connection.execute(there).first() is None:
        return
    kept = [astuple(query) for query in with_newer(read(connection, execution_id), newer)]
    new = insert(store_queries).values(execution_id=execution_id, queries=kept)
    same = [store_queries.c.execution_id]
    connection.execute(new.on_conflict_do_update(index_elements=same, set_={"queries": new.excluded.queries}))


def read(connection: Connection, execution_id: ExecutionId) -> tuple[StoreQuery, ...]:
    """Return the newest queries of an execution, oldest first."""
    found = connection.execute(select(store_queries.c.queries).where(store_queries.c.execution_id == execution_id))
    return tuple(
        StoreQuery(number, object_bytes, read_bytes, tuple(plainly), at_s)
        for number, object_bytes, read_bytes, plainly, at_s in found.scalar() or ()
    )
