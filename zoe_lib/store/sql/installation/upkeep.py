"""Samples of usage, and the removal of old data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from sqlalchemy import Connection, bindparam, delete, func, insert, select, text
from sqlalchemy.dialects.postgresql import insert as insert_or

from zoe_lib.domain.executions.execution import ExecutionId
from zoe_lib.domain.executions.use import daily_use
from zoe_lib.store.documents.codec import encode
from zoe_lib.store.documents.documents import Applications
from zoe_lib.store.documents.rows import from_row
from zoe_lib.store.documents.text import storable
from zoe_lib.store.sql.batch.workflows import remove_empty
from zoe_lib.store.sql.billing import metering
from zoe_lib.store.sql.billing.sums import add_use, forget, sum_up, summed_up_to
from zoe_lib.store.sql.executions.executions import ended_before
from zoe_lib.store.tables.executions import executions, idempotency_keys, journal, services, usage_samples
from zoe_lib.store.tables.installation import retention, ticks
from zoe_lib.store.tables.sums import daily_use as removed_use
from zoe_lib.store.values import ExecutionUse, StoreLimits, UsageSample, UsePoint

# Executions removed in one transaction: keeps its locks short.
PRUNED_AT_ONCE = 500

# For each service: the first sample beyond the limit, counted from the newest, and all older ones.
_TRIM = text("""
    DELETE FROM usage_samples AS sample
    USING unnest(CAST(:services AS text[])) AS wanted (service_id),
          LATERAL (
              SELECT at_s, id FROM usage_samples WHERE service_id = wanted.service_id
              ORDER BY at_s DESC, id DESC OFFSET :kept LIMIT 1
          ) AS surplus
    WHERE sample.service_id = wanted.service_id AND (sample.at_s, sample.id) <= (surplus.at_s, surplus.id)
""")


def add_usage(connection: Connection, samples: Sequence[UsageSample], limits: StoreLimits) -> None:
    """Store samples, and remove the oldest of a service beyond the limit."""
    connection.execute(insert(usage_samples), [encode(sample) for sample in samples])
    sampled = sorted({sample.service_id for sample in samples})
    connection.execute(_TRIM, {"services": sampled, "kept": limits.usage_samples_per_service_max})


def read_usage(connection: Connection, execution_id: ExecutionId) -> Sequence[UsageSample]:
    """Return the samples of an execution, oldest first."""
    if not storable(execution_id):
        return ()
    ordered = select(usage_samples).order_by(usage_samples.c.at_s, usage_samples.c.id)
    rows = connection.execute(ordered.where(usage_samples.c.execution_id == execution_id))
    return [from_row(UsageSample, row) for row in rows]


def read_use_of(connection: Connection, ids: Collection[ExecutionId], now_s: float) -> Sequence[ExecutionUse]:
    """Return use and reservations of the existing ones of these executions; running services count until now."""
    sampled = (
        select(
            usage_samples.c.service_id,
            func.max(usage_samples.c.cpu_s).label("cpu_s"),
            func.max(usage_samples.c.memory_bytes).label("peak"),
        )
        .where(usage_samples.c.execution_id.in_([id_ for id_ in ids if storable(id_)]))
        .group_by(usage_samples.c.service_id)
        .subquery()
    )
    columns = (
        *(services.c.execution_id, services.c.cores_milli, services.c.memory_bytes),
        *(services.c.started_at_s, services.c.ended_at_s, sampled.c.cpu_s, sampled.c.peak),
    )
    joined = services.outerjoin(sampled, sampled.c.service_id == services.c.id)
    wanted = services.c.execution_id.in_([id_ for id_ in ids if storable(id_)])
    found: dict[ExecutionId, ExecutionUse] = {}
    for row in connection.execute(select(*columns).select_from(joined).where(wanted)):
        before = found.get(row.execution_id, ExecutionUse(row.execution_id))
        lasted_s = 0.0 if row.started_at_s is None else max((row.ended_at_s or now_s) - row.started_at_s, 0.0)
        fuller = row.peak is not None and row.peak > before.memory_peak_bytes
        found[row.execution_id] = ExecutionUse(
            row.execution_id,
            cpu_s=before.cpu_s + (row.cpu_s or 0.0),
            reserved_core_s=before.reserved_core_s + row.cores_milli / 1000 * lasted_s,
            memory_peak_bytes=row.peak if fuller else before.memory_peak_bytes,
            memory_reserved_bytes=row.memory_bytes if fuller else before.memory_reserved_bytes,
        )
    return list(found.values())


# First the usage of each service in each interval, then the sums over all services of a name.
_OVER_TIME = """
    SELECT :stretch * stretch AS at_s, name, sum(cores) AS cores, sum(memory) AS memory
    FROM (
        SELECT floor(sample.at_s / :stretch) AS stretch, {name} AS name,
               coalesce((max(cpu_s) - min(cpu_s)) / nullif(max(sample.at_s) - min(sample.at_s), 0), 0) AS cores,
               avg(memory_bytes)::double precision AS memory
        FROM usage_samples AS sample JOIN executions ON executions.id = sample.execution_id
        WHERE sample.at_s >= :from_s AND sample.at_s < :to_s
        GROUP BY stretch, {name}, sample.service_id
    ) AS services
    GROUP BY stretch, name ORDER BY stretch, name
"""
_BY_NODE = text(_OVER_TIME.format(name="sample.node"))
_BY_NAME = text(_OVER_TIME.format(name="executions.name"))


def use_over_time(
    connection: Connection, from_s: float, to_s: float, stretch_s: float, *, by_node: bool
) -> Sequence[UsePoint]:
    """Return the usage of that time, by time and then name: by node, or by the executions' name.

    Cores are known if a service has at least two samples in an interval.
    """
    span = {"from_s": from_s, "to_s": to_s, "stretch": stretch_s}
    rows = connection.execute(_BY_NODE if by_node else _BY_NAME, span)
    return [UsePoint(at_s, name, cores, memory) for at_s, name, cores, memory in rows]


def prune_some(connection: Connection, applications: Applications, ended_before_s: float) -> int:
    """Remove some of the executions that ended before, after adding up their usage; return how many.

    Services are removed with their execution. Records of ticks, too, except those with which a replay from the cut
    starts.
    """
    while sum_up(connection, applications):
        pass
    summed_to = summed_up_to(connection) or 0
    old = ended_before(connection, applications, ended_before_s, summed_to, PRUNED_AT_ONCE)
    ids = [execution.id for execution in old]
    _move_cut(connection, ended_before_s)
    if not ids:
        return 0
    add_use(connection, removed_use, daily_use(old))
    metering.keep(connection, ids)
    forget(connection, Counter(execution.state.value for execution in old))
    for column in (
        journal.c.execution_id,
        usage_samples.c.execution_id,
        idempotency_keys.c.execution_id,
        executions.c.id,
    ):
        connection.execute(delete(column.table).where(column.in_(bindparam("ids", expanding=True))), {"ids": ids})
    remove_empty(connection)
    return len(ids)


def read_cut(connection: Connection) -> float:
    """Return the time before which ended executions may have been removed."""
    cut_s: float | None = connection.execute(select(retention.c.cut_s)).scalar_one_or_none()
    return cut_s or 0.0


def _move_cut(connection: Connection, cut_s: float) -> None:
    first = insert_or(retention).values(id=1, cut_s=cut_s)
    later = func.greatest(retention.c.cut_s, first.excluded.cut_s)
    connection.execute(first.on_conflict_do_update(index_elements=[retention.c.id], set_={"cut_s": later}))
    start = select(func.max(ticks.c.id)).where(ticks.c.whole, ticks.c.at_s <= cut_s).scalar_subquery()
    connection.execute(delete(ticks).where(ticks.c.id < start))


def prune_keys(connection: Connection, before_s: float) -> None:
    """Remove idempotency keys that no client repeats any more."""
    connection.execute(delete(idempotency_keys).where(idempotency_keys.c.at_s < before_s))
