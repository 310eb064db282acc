"""Workflow steps that run for each entry of a list, as arrays.

Arrays are not shared: other users see them only if they see all of the tenant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause, Row, and_, func, insert, select

from zoe_client.vocabulary import Cause, ExecutionState, IndexState
from zoe_lib.domain.applications.entries import EntryList
from zoe_lib.domain.applications.sharing import Visibility
from zoe_lib.domain.executions.arrays import member_of, state_of
from zoe_lib.domain.executions.execution import ExecutionId
from zoe_lib.domain.values.conditions import Conditions
from zoe_lib.store.documents.codec import decode
from zoe_lib.store.documents.rows import Values
from zoe_lib.store.sql.batch.array_counts import active_of_arrays
from zoe_lib.store.sql.batch.array_entries import with_failures
from zoe_lib.store.tables.arrays import arrays
from zoe_lib.store.tables.workflows import workflow_arrays
from zoe_lib.store.workflow_values import StoredEntries, StoredStep

_COLUMNS = (
    *(arrays.c.user_name, arrays.c.counts, arrays.c.conditions, arrays.c.message, arrays.c.ended_at_s),
    arrays.c.entries,
)


def add(connection: Connection, rows: Sequence[Values]) -> None:
    """Write steps in the transaction of their arrays."""
    connection.execute(insert(workflow_arrays), list(rows))


def steps_of(
    connection: Connection, ids: Collection[str], visibility: Visibility
) -> Mapping[str, Sequence[StoredStep]]:
    """Return the visible workflow steps that are arrays, the newest of each."""
    wanted = select(workflow_arrays, *_COLUMNS).select_from(_newest(ids)).where(*_visible(visibility))
    found: defaultdict[str, list[StoredStep]] = defaultdict(list)
    rows = connection.execute(wanted).all() if ids else []
    active = active_of_arrays(connection, [row.array_id for row in rows if row.ended_at_s is None])
    for row in rows:
        found[row.workflow_id].append(_step(row, active.get(row.array_id, {})))
    return found


def naming_failures(connection: Connection, steps: Sequence[StoredStep]) -> tuple[StoredStep, ...]:
    """Return steps; messages of steps that run for a list name their failed entries."""
    some = {
        step.execution_id: step.message for step in steps if step.entries and step.entries.states.get(IndexState.FAILED)
    }
    told = with_failures(connection, some)
    return tuple(replace(step, message=told.get(step.execution_id, step.message)) for step in steps)


def open_steps(connection: Connection, ids: Collection[str]) -> Mapping[str, set[str]]:
    """Return the unfinished arrays of workflows, for any user."""
    wanted = (
        select(workflow_arrays.c.workflow_id, workflow_arrays.c.array_id)
        .select_from(_newest(ids))
        .where(arrays.c.ended_at_s.is_(None))
    )
    found: defaultdict[str, set[str]] = defaultdict(set)
    for row in connection.execute(wanted) if ids else ():
        found[row.workflow_id].add(row.array_id)
    return found


def workflow_of(connection: Connection, run_id: ExecutionId) -> str | None:
    """Return the workflow of an array, or of one of its executions; None if it has none."""
    member = member_of(run_id)
    array_id = run_id if member is None else member.array_id
    found = select(workflow_arrays.c.workflow_id).where(workflow_arrays.c.array_id == array_id)
    name: str | None = connection.execute(found).scalar_one_or_none()
    return name


def _newest(ids: Collection[str]) -> FromClause:
    step = (workflow_arrays.c.workflow_id, workflow_arrays.c.position)
    newest = (
        select(*step, func.max(workflow_arrays.c.run).label("run"))
        .where(workflow_arrays.c.workflow_id.in_(list(ids)))
        .group_by(*step)
        .subquery()
    )
    same = (column == newest.c[column.name] for column in (*step, workflow_arrays.c.run))
    return workflow_arrays.join(newest, and_(*same)).join(arrays, arrays.c.id == workflow_arrays.c.array_id)


def _visible(visibility: Visibility) -> list[ColumnElement[bool]]:
    seen = []
    if visibility.tenant is not None:
        seen.append(arrays.c.tenant == visibility.tenant)
    if visibility.user is not None:
        seen.append(arrays.c.user_name == visibility.user)
    return seen


def _step(row: Row[Any], active: Mapping[ExecutionState, int]) -> StoredStep:
    counts = {IndexState(name): number for name, number in row.counts.items()}
    entries, state = decode(EntryList, row.entries), state_of(counts, active)
    return StoredStep(
        execution_id=row.array_id,
        run=row.run,
        position=row.position,
        name=row.name,
        facts=row.facts,
        user=row.user_name,
        state=state,
        cause=_cause(row, entries, state),
        message=f"{row.message} ({entries.hint})" if entries.hint else row.message,
        exit_code=None,
        started_at_s=None,
        ended_at_s=row.ended_at_s,
        entries=StoredEntries(entries.count, {} if entries.count is None else counts, entries.problem),
    )


def _cause(row: Row[Any], entries: EntryList, state: ExecutionState) -> Cause | None:
    """Return why it ended before its list was known."""
    conditions = None if row.conditions is None else decode(Conditions, row.conditions)
    if state is ExecutionState.CANCELLED:
        return Cause.CANCELLED
    if entries.count is None and state is ExecutionState.FAILED and conditions is not None and conditions.impossible:
        return Cause.DEPENDENCY_FAILED
    return None
