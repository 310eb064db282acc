"""Count the executions of arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

from sqlalchemy import Connection, func, select, text

from zoe_client.vocabulary import ExecutionState
from zoe_lib.domain.executions.arrays import ArrayId
from zoe_lib.store.documents.text import storable
from zoe_lib.store.tables.executions import NOT_TERMINAL, executions


def active_of_arrays(
    connection: Connection, array_ids: Collection[ArrayId]
) -> Mapping[ArrayId, Mapping[ExecutionState, int]]:
    """Return the number of unfinished executions by state, for each of these arrays that has any."""
    found: defaultdict[ArrayId, dict[ExecutionState, int]] = defaultdict(dict)
    columns = (executions.c.array_id, executions.c.state)
    of_arrays = executions.c.array_id.in_([id_ for id_ in array_ids if storable(id_)])
    by_state = select(*columns, func.count()).where(of_arrays, executions.c.array_id.is_not(None), text(NOT_TERMINAL))
    for array_id, state, number in connection.execute(by_state.group_by(*columns)):
        found[array_id][ExecutionState(state)] = number
    return found


def begun_arrays(connection: Connection, array_ids: Collection[ArrayId]) -> Collection[ArrayId]:
    """Return those of these arrays of which an execution has started, whatever became of it."""
    of_arrays = executions.c.array_id.in_([id_ for id_ in array_ids if storable(id_)])
    started = of_arrays, executions.c.array_id.is_not(None), executions.c.started_at_s.is_not(None)
    return frozenset(connection.execute(select(executions.c.array_id).where(*started).distinct()).scalars())
