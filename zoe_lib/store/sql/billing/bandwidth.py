"""Observations of bandwidth, as reported by the storage controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from sqlalchemy import Connection, delete, insert, select, text
from sqlalchemy.dialects.postgresql import insert as insert_or

from zoe_lib.domain.executions.promises import Rates, TenantBandwidth
from zoe_lib.domain.values.transfers import StoreTransfers
from zoe_lib.store.documents.text import storable
from zoe_lib.store.tables.executions import executions
from zoe_lib.store.tables.sums import bandwidth_looks, bandwidth_samples, transfers_so_far
from zoe_lib.store.values import BandwidthPoint

# A tenant that is missing from an observation used nothing, so sums are divided by observations, not by samples.
_OVER_TIME = text("""
    WITH asked AS (
        SELECT floor(at_s / :stretch) AS stretch, count(*) AS looks,
               nullif(count(*) FILTER (WHERE measured), 0) AS measured
        FROM bandwidth_looks WHERE at_s >= :from_s AND at_s < :to_s
        GROUP BY stretch
    ), found AS (
        SELECT floor(at_s / :stretch) AS stretch, tenant,
               sum(granted_read) AS granted_read, sum(granted_write) AS granted_write,
               sum(achieved_read) AS achieved_read, sum(achieved_write) AS achieved_write,
               sum(missed_read) AS missed_read, sum(missed_write) AS missed_write
        FROM bandwidth_samples
        WHERE at_s >= :from_s AND at_s < :to_s AND (CAST(:tenant AS text) IS NULL OR tenant = :tenant)
        GROUP BY stretch, tenant
    )
    SELECT :stretch * stretch, tenant,
           div(coalesce(granted_read, 0), looks), div(coalesce(granted_write, 0), looks),
           div(coalesce(achieved_read, 0), measured), div(coalesce(achieved_write, 0), measured),
           div(coalesce(missed_read, 0), measured), div(coalesce(missed_write, 0), measured)
    FROM asked CROSS JOIN (SELECT DISTINCT tenant FROM found) AS tenants LEFT JOIN found USING (stretch, tenant)
    ORDER BY stretch, tenant
""")


def add_look(
    connection: Connection, at_s: float, tenants: Mapping[str, TenantBandwidth], measured: bool = True
) -> None:
    """Store an observation of the storage controller, by tenant; missing tenants used nothing.
    measured: False if the controller reports no `achieved` and `missed`; then these are not stored. An observation that
    is already stored is not changed. Raises Unstorable.
    """
    look = insert_or(bandwidth_looks).values(at_s=at_s, measured=measured).on_conflict_do_nothing()
    new = connection.execute(look.returning(bandwidth_looks.c.at_s)).scalar_one_or_none() is not None
    if new and tenants:
        connection.execute(
            insert(bandwidth_samples), [_values(at_s, name, bandwidth) for name, bandwidth in tenants.items()]
        )


def read_over_time(
    connection: Connection, from_s: float, to_s: float, stretch_s: float, tenant: str | None = None
) -> Sequence[BandwidthPoint]:
    """Return means over the observations of each interval, by time and then tenant, of one tenant or of all.

    Each tenant has a point in every interval with an observation. Intervals without one are missing, since their
    bandwidth is unknown. `achieved` and `missed` are means over the observations that measured them, None if none did.
    """
    if not storable(tenant):
        return ()
    span = {"from_s": from_s, "to_s": to_s, "stretch": stretch_s, "tenant": tenant}
    return [_point(*row) for row in connection.execute(_OVER_TIME, span)]


def keep_transfers(connection: Connection, at_s: float, moved: Mapping[str, StoreTransfers]) -> None:
    """Store the bytes that executions have moved so far with their current credentials."""
    if not moved:
        return
    there = select(executions.c.id).where(executions.c.id.in_(moved)).order_by(executions.c.id)
    rows = [
        {
            "execution_id": scalar,
            "generation": moved[scalar].generation,
            "at_s": at_s,
            "read_bytes": moved[scalar].read_bytes,
            "written_bytes": moved[scalar].written_bytes,
            "transferring_s": moved[scalar].transferring_s,
            "waiting_s": moved[scalar].waiting_s,
        }
        for scalar in connection.execute(there.with_for_update(read=True, key_share=True)).scalars()
    ]
    if rows:
        upsert = insert_or(transfers_so_far).values(rows)
        news = {name: upsert.excluded[name] for name in rows[0] if name != "execution_id"}
        connection.execute(upsert.on_conflict_do_update(index_elements=["execution_id"], set_=news))


def read_transfers(connection: Connection, execution_id: str) -> StoreTransfers | None:
    """Return the bytes that an execution has moved so far with its newest credential; None if unknown."""
    if not storable(execution_id):
        return None
    row = connection.execute(
        select(transfers_so_far).where(transfers_so_far.c.execution_id == execution_id)
    ).one_or_none()
    if row is None:
        return None
    amounts = row.read_bytes, row.written_bytes, row.transferring_s, row.waiting_s
    return StoreTransfers(row.generation, *amounts, whole=False, at_s=row.at_s)


def prune_looks(connection: Connection, before_s: float) -> None:
    """Remove older observations with their samples."""
    connection.execute(delete(bandwidth_looks).where(bandwidth_looks.c.at_s < before_s))


def _values(at_s: float, tenant: str, one: TenantBandwidth) -> dict[str, object]:
    achieved, missed = one.achieved or Rates(), one.missed or Rates()
    return {
        "at_s": at_s,
        "tenant": tenant,
        "granted_read": one.granted.read,
        "granted_write": one.granted.write,
        "achieved_read": achieved.read,
        "achieved_write": achieved.write,
        "missed_read": missed.read,
        "missed_write": missed.write,
    }


def _point(at_s: float, tenant: str, *means: Decimal | None) -> BandwidthPoint:
    granted, achieved, missed = (_rates(*means[way : way + 2]) for way in (0, 2, 4))
    return BandwidthPoint(at_s, tenant, TenantBandwidth(granted or Rates(), achieved, missed))


def _rates(read: Decimal | None, write: Decimal | None) -> Rates | None:
    return None if read is None or write is None else Rates(int(read), int(write))
