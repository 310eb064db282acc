"""What the storage controller keeps, in the schema `sds`."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

SCHEMA = "sds"


def upgrade() -> None:
    op.execute("CREATE SCHEMA IF NOT EXISTS sds")
    op.create_table(
        "projects",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        schema=SCHEMA,
    )
    op.create_table(
        "slos",
        sa.Column("project_id", sa.Text, primary_key=True),
        sa.Column("policy_id", sa.Text, primary_key=True),
        sa.Column("slo_name", sa.Text, primary_key=True),
        sa.Column("bytes_per_s", sa.BigInteger, nullable=False),
        sa.Column("owner", sa.Text),
        sa.CheckConstraint("bytes_per_s > 0"),
        sa.CheckConstraint("slo_name IN ('get_bw', 'put_bw', 'ssync_bw')"),
        schema=SCHEMA,
    )
    op.create_table(
        "leases",
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("until_s", sa.Double, nullable=False),
        schema=SCHEMA,
    )
    op.create_table(
        "filters",
        sa.Column("dsl_name", sa.Text, primary_key=True),
        sa.Column("attributes", JSONB, nullable=False),
        sa.Column("data", sa.LargeBinary),
        schema=SCHEMA,
    )
    op.create_table(
        "policies",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("rule", sa.Text, nullable=False),
        sa.Column("actions", JSONB, nullable=False),
        schema=SCHEMA,
    )
    op.create_table(
        "views",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("columns", JSONB, nullable=False),
        sa.Column("where", sa.Text),
        sa.Column("owner", sa.Text),
        schema=SCHEMA,
    )


def downgrade() -> None:
    op.execute("DROP SCHEMA sds CASCADE")
