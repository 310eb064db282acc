"""Usage samples, and the removal of what is too old."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, delete, insert, select, text

from zoe_lib.domain.execution import ExecutionId
from zoe_lib.store.base import StoreLimits, UsageSample
from zoe_lib.store.codec import encode
from zoe_lib.store.rows import to_sample
from zoe_lib.store.tables import executions, idempotency_keys, journal, usage_samples

# Executions removed in one transaction: keeps its locks short.
PRUNED_AT_ONCE = 500

# For each service: the first sample beyond the bound, counted from the newest, and all that are older.
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
    """Keep samples within the bound per service."""
    connection.execute(insert(usage_samples), [encode(sample) for sample in samples])
    services = sorted({sample.service_id for sample in samples})
    connection.execute(_TRIM, {"services": services, "kept": limits.usage_samples_per_service_max})


def read_usage(connection: Connection, execution_id: ExecutionId) -> Sequence[UsageSample]:
    """The samples of an execution, oldest first."""
    ordered = select(usage_samples).order_by(usage_samples.c.at_s, usage_samples.c.id)
    rows = connection.execute(ordered.where(usage_samples.c.execution_id == execution_id))
    return [to_sample(row) for row in rows]


def prune_some(connection: Connection, ended_before_s: float) -> int:
    """Remove some of the executions that ended before; how many. Services go with their execution."""
    old = select(executions.c.id).where(executions.c.ended_at_s < ended_before_s)
    ids = connection.execute(old.limit(PRUNED_AT_ONCE).with_for_update(skip_locked=True)).scalars().all()
    if not ids:
        return 0
    for column in (
        journal.c.execution_id,
        usage_samples.c.execution_id,
        idempotency_keys.c.execution_id,
        executions.c.id,
    ):
        connection.execute(delete(column.table).where(column.in_(bindparam("ids", expanding=True))), {"ids": ids})
    return len(ids)


def prune_keys(connection: Connection, before_s: float) -> None:
    """Forget idempotency keys that nobody will repeat any more."""
    connection.execute(delete(idempotency_keys).where(idempotency_keys.c.at_s < before_s))
