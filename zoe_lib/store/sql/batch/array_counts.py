"""Count the executions of arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

from sqlalchemy import Connection, func, select, text

from zoe_client.vocabulary import Cause, ExecutionState
from zoe_lib.domain.executions.arrays import ArrayId
from zoe_lib.store.documents.text import storable
from zoe_lib.store.tables.executions import NOT_TERMINAL, executions
from zoe_lib.store.values import ArrayRuns

# Of each execution counts the time after all those that began before it have ended.
_RUNS = text("""
    WITH spans AS (
        SELECT array_id, state = 'failed' AND coalesce(substring(id FROM '_[0-9]+r([0-9]+)$')::int, 1) = run AS failed,
               cause, (marks ->> 'placed')::double precision AS from_s, coalesce(ended_at_s, :now_s) AS to_s
        FROM executions
        JOIN unnest(CAST(:ids AS text[]), CAST(:runs AS int[])) AS wanted (wanted_id, run) ON array_id = wanted_id
    ), ordered AS (
        SELECT *, max(to_s) FILTER (WHERE from_s IS NOT NULL) OVER (
            PARTITION BY array_id ORDER BY from_s, to_s ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before_s
        FROM spans
    )
    SELECT array_id, sum(greatest(to_s - greatest(from_s, before_s), 0)) FILTER (WHERE from_s IS NOT NULL) AS ran_s,
           array_agg(DISTINCT cause) FILTER (WHERE failed AND cause IS NOT NULL) AS causes
    FROM ordered GROUP BY array_id
""")


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


def runs_of_arrays(connection: Connection, runs: Mapping[ArrayId, int], now_s: float) -> Mapping[ArrayId, ArrayRuns]:
    """Return how long arrays ran until now, and why indices failed; `runs`: the numbers of their present runs."""
    known = {id_: run for id_, run in runs.items() if storable(id_)}
    given = {"ids": list(known), "runs": list(known.values()), "now_s": now_s}
    return {
        row.array_id: ArrayRuns(row.ran_s, frozenset(Cause(cause) for cause in row.causes or ()))
        for row in connection.execute(_RUNS, given)
    }
