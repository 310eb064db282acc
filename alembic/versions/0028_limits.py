"""Limits have one table: what were the quotas of tenants, and what the policy limited."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

EVERY = "*"
OF_TENANTS = ("cores_milli", "memory_bytes", "read_bytes_per_s", "write_bytes_per_s")
OF_USERS = ("cores_milli", "memory_bytes")
# Column of tenants -> whose limit it is, and which.
QUOTAS = {
    "executions_max": ("", "executions"),
    "executions_of_user_max": (EVERY, "executions"),
    "time_limit_s_max": ("", "time_limit_s"),
}
Amounts = dict[tuple[str, str], dict[str, Any]]


def upgrade() -> None:
    op.create_table(
        "limits",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("user_name", sa.Text, primary_key=True),
        sa.Column("amounts", JSONB, nullable=False),
    )
    connection = op.get_bind()
    found: Amounts = {}
    data = connection.execute(sa.text("SELECT data FROM policy")).scalar_one_or_none() or {}
    for field, user, names in (("tenant_limits", "", OF_TENANTS), ("user_limits", EVERY, OF_USERS)):
        for tenant, entry in data.get(field, {}).items():
            found[tenant, user] = {name: entry.get(name) for name in names}
    for row in connection.execute(sa.text("SELECT * FROM tenants")).mappings():
        for column, (user, amount) in QUOTAS.items():
            if row[column] is not None:
                found.setdefault((row["name"], user), {})[amount] = row[column]
    insert = sa.text("INSERT INTO limits (tenant, user_name, amounts) VALUES (:tenant, :user, CAST(:amounts AS jsonb))")
    for (tenant, user), amounts in found.items():
        connection.execute(insert, {"tenant": tenant, "user": user, "amounts": json.dumps(amounts)})
    op.execute("UPDATE policy SET data = data - 'tenant_limits' - 'user_limits'")
    for column in QUOTAS:
        op.drop_column("tenants", column)


def downgrade() -> None:
    """Each tenant and each entry gets what holds for it; limits of single users have no place there."""
    for column in QUOTAS:
        op.add_column("tenants", sa.Column(column, sa.Double if column == "time_limit_s_max" else sa.Integer))
    connection = op.get_bind()
    rows = connection.execute(sa.text("SELECT tenant, user_name, amounts FROM limits")).all()
    found: Amounts = {(row.tenant, row.user_name): row.amounts for row in rows}
    for column, (user, amount) in QUOTAS.items():
        tenants = sa.table("tenants", sa.column("name"), sa.column(column))
        for (name,) in connection.execute(sa.text("SELECT name FROM tenants")).all():
            most = _resolved(found, name, user).get(amount)
            connection.execute(tenants.update().where(tenants.c.name == name).values({column: most}))
    for field, user, names in (("tenant_limits", "", OF_TENANTS), ("user_limits", EVERY, OF_USERS)):
        entries = {
            tenant: {name: _resolved(found, tenant, user).get(name) for name in names}
            for (tenant, whose), amounts in found.items()
            if whose == user and not amounts.keys().isdisjoint(names)
        }
        merge = sa.text("UPDATE policy SET data = data || jsonb_build_object(:field, CAST(:entries AS jsonb))")
        connection.execute(merge, {"field": field, "entries": json.dumps(entries)})
    op.drop_table("limits")


def _resolved(found: Amounts, tenant: str, user: str) -> Mapping[str, Any]:
    return {**found.get((EVERY, user), {}), **found.get((tenant, user), {})}
