"""Progress of executions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, select
from sqlalchemy.dialects.postgresql import insert

from zoe_lib.domain.executions.execution import ExecutionId
from zoe_lib.domain.values.progress import ExecutionProgress, ProgressReading
from zoe_lib.store.tables.executions import executions, progress


def write(connection: Connection, newest: Sequence[ExecutionProgress]) -> None:
    """Store the newest progress of each; that of a later attempt stays, unknown executions are left out."""
    ids = [progress.execution_id for progress in newest]
    # The lock keeps them from being removed in between.
    there = select(executions.c.id).where(executions.c.id.in_(ids)).order_by(executions.c.id)
    known = set(connection.execute(there.with_for_update(key_share=True, read=True)).scalars())
    rows = [
        {
            "execution_id": progress.execution_id,
            "attempt": progress.attempt,
            "at_s": progress.at_s,
            "readings": [[r.at_s, r.done, r.total] for r in progress.readings],
            "text": progress.text,
            "problem": progress.problem,
        }
        for progress in newest
        if progress.execution_id in known
    ]
    if not rows:
        return
    new = insert(progress).values(rows)
    changed = {name: new.excluded[name] for name in rows[0] if name != "execution_id"}
    later = new.excluded.attempt >= progress.c.attempt
    connection.execute(new.on_conflict_do_update(index_elements=[progress.c.execution_id], set_=changed, where=later))


def read(connection: Connection, execution_ids: Sequence[ExecutionId]) -> Mapping[ExecutionId, ExecutionProgress]:
    """Return the progress of each execution with a report."""
    wanted = select(progress).where(progress.c.execution_id.in_(execution_ids))
    return {
        row.execution_id: ExecutionProgress(
            row.execution_id,
            row.attempt,
            row.at_s,
            tuple(ProgressReading(*reading) for reading in row.readings),
            row.text,
            row.problem,
        )
        for row in connection.execute(wanted)
    }
