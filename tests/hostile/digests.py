"""A digest of all rows of the database that belong to somebody, apart from what changes without a request."""

from __future__ import annotations

from contextlib import closing

from sqlalchemy import Table

from tests.support.postgres import connect
from zoe_lib.store.tables import metadata

_MOVING = ("forecast", "reason", "version", "notes", "promise", "offers", "next_at_s")
"""Columns that the master writes as the load of all users changes."""
_SKIPPED = frozenset({"journal", "audit", "usage_samples", "metered", "daily_use", "use_by_day", "bandwidth_samples"})


def digests(url: str, tenant: str, neighbour: str) -> dict[str, str]:
    """Return a digest of each table's rows of a tenant and of one user of another tenant."""
    found = {}
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        for table in metadata.sorted_tables:
            where = None if table.name in _SKIPPED else _where(table)
            if where is None:
                continue
            rows = f'SELECT (to_jsonb(one) - %(moving)s::text[])::text AS row FROM "{table.name}" one WHERE {where}'
            digest = "count(*) || ' rows ' || coalesce(md5(string_agg(row, ',' ORDER BY row)), '')"
            cursor.execute(
                f"SELECT {digest} FROM ({rows}) all_",
                {"moving": list(_MOVING), "tenant": tenant, "user": neighbour},
            )
            found[table.name] = str(cursor.fetchone()[0])
    return found


def _where(table: Table) -> str | None:
    columns = {column.name for column in table.columns}
    parts = []
    if "tenant" in columns:
        parts.append("one.tenant = %(tenant)s")
    if "user_name" in columns:
        parts.append("one.user_name = %(user)s")
    if "execution_id" in columns:
        parts.append(
            "one.execution_id IN (SELECT id FROM executions WHERE tenant = %(tenant)s OR user_name = %(user)s)"
        )
    return " OR ".join(parts) or None
