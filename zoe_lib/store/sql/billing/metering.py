"""Metered use and transfers of executions: the one source of statements, prices of executions, and budgets.

Services have rows with their reservations at their time. Grants and views have events in the journal: each counts until
the next such event of its execution. Moved bytes count at the time of their event. All stay until the execution is
removed; `keep` copies them then. All of it is the use of the owner at its time. Times are rounded to microseconds, so
that sums over consecutive times are exact.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, text

from zoe_lib.domain.executions.events import (
    Ended,
    InputsDecided,
    Requeued,
    StorageGranted,
    StorageTransferred,
    StorageWithdrawn,
)
from zoe_lib.domain.executions.execution import Mark
from zoe_lib.domain.executions.metering import Meter, MeteredUse
from zoe_lib.store.documents.text import storable
from zoe_lib.store.sql.billing.owners import OWNER

_NAMES = (
    "one.id AS execution_id, one.tenant, one.user_name, one.former_owners, one.application ->> 'name' AS application"
)
_NOTHING = "0::bigint AS cores_milli, 0::bigint AS memory_bytes, '{}'::jsonb AS devices"
_OVERLAPS = "coalesce({end}, 'infinity') > CAST(:from_us AS bigint) / 1e6 - 1 AND {start} < :to_us / 1e6 + 1"
_WANTED = """
    (CAST(:tenant AS text) IS NULL OR one.tenant = :tenant) AND (NOT :chosen OR one.id = ANY(CAST(:ids AS text[])))
"""
_ENDS = f"'{Requeued.kind}', '{Ended.kind}'"
_SERVICES = f"""
    SELECT {_NAMES}, services.started_at_s AS from_s, services.ended_at_s AS to_s, services.cores_milli,
           services.memory_bytes, services.devices, 0::bigint AS bytes_per_s, 0 AS views
    FROM services JOIN executions AS one ON one.id = services.execution_id
    WHERE {_WANTED} AND {_OVERLAPS.format(start="services.started_at_s", end="services.ended_at_s")}
          AND coalesce(one.ended_at_s, 'infinity') > CAST(:from_us AS bigint) / 1e6 - 1
"""  # noqa: S608 - made of constants
# From an event that begins a grant or view until the next that begins or ends one.
_BY_EVENTS = """
    SELECT {names}, journal.at_s AS from_s, journal.kind, journal.data,
           lead(journal.at_s) OVER (PARTITION BY one.id ORDER BY journal.id) AS to_s
    FROM executions AS one JOIN journal ON journal.execution_id = one.id AND journal.kind IN ('{begins}', {ends})
    WHERE {wanted} AND {having} AND coalesce(one.ended_at_s, 'infinity') > CAST(:from_us AS bigint) / 1e6 - 1
          AND one.submitted_at_s < :to_us / 1e6 + 1
"""
_GRANTS = _BY_EVENTS.format(
    names=_NAMES,
    begins=StorageGranted.kind,
    ends=f"'{StorageWithdrawn.kind}', {_ENDS}",
    wanted=_WANTED,
    having=f"(one.granted_s <> '{{}}' OR jsonb_exists(one.marks, '{Mark.STORAGE_GRANTED}'))",
)
_VIEWS = _BY_EVENTS.format(
    names=_NAMES,
    begins=InputsDecided.kind,
    ends=_ENDS,
    wanted=_WANTED,
    having="jsonb_path_exists(one.application, '$.storage.inputs[*].pushdown')",
)
_HELD = f"""
    {_SERVICES}
    UNION ALL
    SELECT execution_id, tenant, user_name, former_owners, application, from_s, to_s, {_NOTHING},
           coalesce((data ->> 'read_bytes_per_s')::bigint, 0) + coalesce((data ->> 'write_bytes_per_s')::bigint, 0), 0
    FROM ({_GRANTS}) AS grants WHERE kind = '{StorageGranted.kind}'
    UNION ALL
    SELECT execution_id, tenant, user_name, former_owners, application, from_s, to_s, {_NOTHING}, 0,
           jsonb_array_length(jsonb_path_query_array(data, '$.inputs[*] ? (@.view != "")'))
    FROM ({_VIEWS}) AS views WHERE kind = '{InputsDecided.kind}'
"""  # noqa: S608
_OF_PRESENT = f"""
    SELECT execution_id, tenant, owner.user_name, application, greatest(from_s, owner.since_s) AS from_s,
           least(to_s, owner.until_s) AS to_s, cores_milli, memory_bytes, devices, bytes_per_s, views
    FROM ({_HELD}) AS one CROSS JOIN LATERAL {OWNER}
"""  # noqa: S608
_COLUMNS = (
    "execution_id, tenant, user_name, application, from_s, to_s, cores_milli, memory_bytes, devices, bytes_per_s, views"
)
_OF_ALL = f"""
    {_OF_PRESENT}
    UNION ALL
    SELECT {_COLUMNS} FROM metered AS one
    WHERE {_WANTED.replace("one.id", "one.execution_id")} AND {_OVERLAPS.format(start="from_s", end="to_s")}
"""  # noqa: S608
_TRANSFERS = f"""
    SELECT {_NAMES}, journal.at_s, (journal.data -> 'transfers' ->> 'read_bytes')::bigint AS read_bytes,
           (journal.data -> 'transfers' ->> 'written_bytes')::bigint AS written_bytes
    FROM executions AS one
    JOIN journal ON journal.execution_id = one.id AND journal.kind = '{StorageTransferred.kind}'
    WHERE {_WANTED} AND one.transfers IS NOT NULL
          AND (one.transfers ->> 'at_s')::double precision > CAST(:from_us AS bigint) / 1e6 - 1
"""  # noqa: S608
_MOVED = f"""
    SELECT execution_id, tenant, owner.user_name, application, at_s, read_bytes, written_bytes
    FROM ({_TRANSFERS}) AS one
    JOIN LATERAL {OWNER} ON at_s >= coalesce(since_s, '-infinity') AND at_s < coalesce(until_s, 'infinity')
"""  # noqa: S608
_MOVED_BY_ALL = f"""
    {_MOVED}
    UNION ALL
    SELECT execution_id, tenant, user_name, application, from_s, read_bytes, written_bytes FROM metered AS one
    WHERE {_WANTED.replace("one.id", "one.execution_id")} AND from_s = to_s
          AND {_OVERLAPS.format(start="from_s", end="to_s")}
"""  # noqa: S608
_KEEP_MOVED = text(f"""
    INSERT INTO metered ({_COLUMNS}, read_bytes, written_bytes)
    SELECT execution_id, tenant, user_name, application, at_s, at_s, {_NOTHING}, 0, 0, read_bytes, written_bytes
    FROM ({_MOVED}) AS moved WHERE EXISTS (SELECT FROM price_lists)
""")  # noqa: S608
_KEEP = text(f"""
    INSERT INTO metered ({_COLUMNS})
    SELECT * FROM ({_OF_PRESENT}) AS present
    WHERE to_s > from_s AND EXISTS (SELECT FROM price_lists)
""")  # noqa: S608
_WHOSE = "tenant, user_name, application, CASE WHEN :each THEN execution_id ELSE '' END AS execution_id"
_SUMS = text(f"""
    WITH cut AS MATERIALIZED (
        SELECT {_WHOSE}, cores_milli, memory_bytes, devices, bytes_per_s, views,
               least(coalesce(round(to_s * 1e6)::bigint, :to_us), :to_us)
               - greatest(round(from_s * 1e6)::bigint, :from_us) AS us
        FROM ({_OF_ALL}) AS held
    ), held AS (SELECT * FROM cut WHERE us > 0), moved AS (
        SELECT {_WHOSE}, sum(read_bytes) AS read_bytes, sum(written_bytes) AS written_bytes
        FROM ({_MOVED_BY_ALL}) AS one
        WHERE round(at_s * 1e6)::bigint >= :from_us AND round(at_s * 1e6)::bigint < :to_us
        GROUP BY 1, 2, 3, 4
    )
    SELECT tenant, user_name, application, execution_id, meter, '' AS device, units
    FROM (
        SELECT tenant, user_name, application, execution_id, sum(cores_milli::numeric * us) AS cores,
               sum(memory_bytes::numeric * us) AS memory, sum(bytes_per_s::numeric * us) AS bandwidth,
               sum(views::numeric * us) AS views
        FROM held GROUP BY tenant, user_name, application, execution_id
    ) AS sums
    CROSS JOIN LATERAL (VALUES
        ('{Meter.CORE_HOURS}', cores), ('{Meter.MEMORY_GIB_HOURS}', memory),
        ('{Meter.BANDWIDTH_MB_S_HOURS}', bandwidth), ('{Meter.VIEW_HOURS}', views)
    ) AS meters (meter, units)
    WHERE units > 0
    UNION ALL
    SELECT tenant, user_name, application, execution_id, '{Meter.DEVICE_HOURS}', kind, sum(number::numeric * us)
    FROM held CROSS JOIN LATERAL jsonb_each_text(devices) AS of_kind (kind, number)
    WHERE number::numeric > 0
    GROUP BY tenant, user_name, application, execution_id, kind
    UNION ALL
    SELECT tenant, user_name, application, execution_id, meter, '', bytes
    FROM moved
    CROSS JOIN LATERAL (VALUES
        ('{Meter.READ_GB}', read_bytes), ('{Meter.WRITTEN_GB}', written_bytes)
    ) AS meters (meter, bytes)
    WHERE bytes > 0
""")  # noqa: S608
# For services with samples: the unused share of their reservations, over all of their time, for each owner.
_UNUSED = text(f"""
    SELECT tenant, user_name, application, execution_id,
           1 - least(sum(cpu_s * owned_s / lasted_s) / nullif(sum(cores_milli / 1000.0 * owned_s), 0), 1) AS cores,
           1 - least(sum(peak * owned_s) / nullif(sum(memory_bytes * owned_s), 0), 1) AS memory
    FROM (
        SELECT {_WHOSE.replace("user_name", "owner.user_name")}, sampled.cpu_s, sampled.peak, services.cores_milli,
               services.memory_bytes, ends_s - services.started_at_s AS lasted_s,
               least(ends_s, owner.until_s) - greatest(services.started_at_s, owner.since_s) AS owned_s
        FROM services
        JOIN (SELECT {_NAMES} FROM executions AS one WHERE {_WANTED}) AS one USING (execution_id)
        JOIN LATERAL (
            SELECT max(cpu_s) AS cpu_s, max(memory_bytes)::double precision AS peak, max(at_s) AS last_s
            FROM usage_samples WHERE service_id = services.id
        ) AS sampled ON sampled.cpu_s IS NOT NULL
        CROSS JOIN LATERAL coalesce(services.ended_at_s, sampled.last_s) AS ends_s
        CROSS JOIN LATERAL {OWNER}
        WHERE {_OVERLAPS.format(start="services.started_at_s", end="services.ended_at_s")}
    ) AS measured
    WHERE lasted_s > 0 AND owned_s > 0
    GROUP BY tenant, user_name, application, execution_id
""")  # noqa: S608
_MISSED = text("""
    SELECT sum(missed_read + missed_write)::double precision / nullif(sum(granted_read + granted_write), 0)
    FROM bandwidth_samples JOIN bandwidth_looks USING (at_s)
    WHERE measured AND tenant = :tenant AND at_s >= :from_us / 1e6 AND at_s < :to_us / 1e6
""")


def read_metered(
    connection: Connection,
    from_us: int,
    to_us: int,
    tenant: str | None = None,
    ids: Collection[str] | None = None,
    with_unused: bool = False,
) -> Sequence[MeteredUse]:
    """Return the use between two moments, in microseconds since the epoch, by tenant, user, application, meter and
    device; of given executions, by execution. Running services count until the end of that time.
    """
    if not storable(tenant, *(ids or ())):
        return ()
    asked = {
        "from_us": from_us, "to_us": to_us, "tenant": tenant,
        "chosen": ids is not None, "each": ids is not None, "ids": list(ids or ()),
    }  # fmt: skip
    shares: dict[tuple[object, ...], float | None] = {}
    if with_unused:
        for row in connection.execute(_UNUSED, asked):
            key = (row.tenant, row.user_name, row.application, row.execution_id)
            shares[*key, Meter.CORE_HOURS], shares[*key, Meter.MEMORY_GIB_HOURS] = row.cores, row.memory
    return [
        MeteredUse(
            row.tenant, row.user_name, row.application, meter := Meter(row.meter), int(row.units), row.device,
            row.execution_id, shares.get((row.tenant, row.user_name, row.application, row.execution_id, meter)),
        )
        for row in connection.execute(_SUMS, asked)
    ]  # fmt: skip


def missed_share(connection: Connection, tenant: str, from_us: int, to_us: int) -> float | None:
    """Return the share of its granted bandwidth that a tenant missed, from 0 to 1; None without measurements."""
    asked = {"tenant": tenant, "from_us": from_us, "to_us": to_us}
    share: float | None = connection.execute(_MISSED, asked).scalar_one()
    return None if share is None else min(max(share, 0.0), 1.0)


def keep(connection: Connection, ids: Collection[str]) -> None:
    """Copy the use of these executions before they are removed; nothing if there was never a price list."""
    ever = {"from_us": -(2**62), "to_us": 2**62, "tenant": None, "chosen": True, "ids": list(ids)}
    connection.execute(_KEEP, ever)
    connection.execute(_KEEP_MOVED, ever)
