"""Times of the last use of applications."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, Select, exists, func, literal, select
from sqlalchemy.dialects.postgresql import insert

from zoe_lib.domain.executions.execution import ACTIVE_STATES, ExecutionId
from zoe_lib.store.documents.text import storable
from zoe_lib.store.tables.executions import executions, last_uses, usage_samples


def add(connection: Connection, execution_id: ExecutionId, at_s: float) -> None:
    """Store the later time; do nothing for an unknown execution."""
    if not storable(execution_id):
        return
    _add(connection, select(executions.c.id, literal(at_s)).where(executions.c.id == execution_id))


def add_to_active(connection: Connection, at_s: float, measured_from_s: float = math.inf) -> None:
    """Count active executions as used at that time, since their use before is unknown: all without a measurement of
    their usage from `measured_from_s` on.
    """
    measured = usage_samples.c.execution_id == executions.c.id, usage_samples.c.at_s >= measured_from_s
    unknown = executions.c.state.in_(ACTIVE_STATES), ~exists().where(*measured)
    _add(connection, select(executions.c.id, literal(at_s)).where(*unknown))


def _add(connection: Connection, uses: Select[tuple[str, float]]) -> None:
    """Store these pairs of execution and time; of a recorded and a new time, the later."""
    new = insert(last_uses).from_select(["execution_id", "at_s"], uses)
    later = func.greatest(last_uses.c.at_s, new.excluded.at_s)
    connection.execute(new.on_conflict_do_update(index_elements=[last_uses.c.execution_id], set_={"at_s": later}))


def read(connection: Connection, execution_ids: Sequence[ExecutionId]) -> Mapping[ExecutionId, float]:
    """Return the last use of each execution that was used."""
    wanted = select(last_uses).where(last_uses.c.execution_id.in_(execution_ids))
    return {row.execution_id: row.at_s for row in connection.execute(wanted)}
