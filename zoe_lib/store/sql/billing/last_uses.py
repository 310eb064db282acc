"""Times of the last use of applications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, func, literal, select
from sqlalchemy.dialects.postgresql import insert

from zoe_lib.domain.executions.execution import ExecutionId
from zoe_lib.store.documents.text import storable
from zoe_lib.store.tables.executions import executions, last_uses


def add(connection: Connection, execution_id: ExecutionId, at_s: float) -> None:
    """Store the later time; do nothing for an unknown execution."""
    if not storable(execution_id):
        return
    known = select(executions.c.id, literal(at_s)).where(executions.c.id == execution_id)
    new = insert(last_uses).from_select(["execution_id", "at_s"], known)
    later = func.greatest(last_uses.c.at_s, new.excluded.at_s)
    connection.execute(new.on_conflict_do_update(index_elements=[last_uses.c.execution_id], set_={"at_s": later}))


def read(connection: Connection, execution_ids: Sequence[ExecutionId]) -> Mapping[ExecutionId, float]:
    """Return the last use of each execution that was used."""
    wanted = select(last_uses).where(last_uses.c.execution_id.in_(execution_ids))
    return {row.execution_id: row.at_s for row in connection.execute(wanted)}
