"""Price lists, statements of closed months, budgets, what removed executions held, and devices of services."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("services", sa.Column("devices", JSONB, nullable=False, server_default=sa.text("'{}'")))
    op.create_table(
        "price_lists",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("from_us", sa.BigInteger, nullable=False),
        sa.Column("document", JSONB, nullable=False),
        sa.Column("set_at_s", sa.Double, nullable=False),
        sa.Column("set_by", sa.Text, nullable=False),
        sa.Column("replaced_at_s", sa.Double),
    )
    op.create_index(
        "ix_price_lists_from",
        "price_lists",
        ["from_us"],
        unique=True,
        postgresql_where=sa.text("replaced_at_s IS NULL"),
    )
    op.create_table(
        "metered",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("execution_id", "tenant", "user_name", "application")),
        *(sa.Column(name, sa.Double, nullable=False) for name in ("from_s", "to_s")),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in ("cores_milli", "memory_bytes")),
        sa.Column("devices", JSONB, nullable=False),
        sa.Column("bytes_per_s", sa.BigInteger, nullable=False),
        sa.Column("views", sa.Integer, nullable=False),
    )
    op.create_index("ix_metered_to", "metered", ["to_s"])
    op.create_table(
        "statements",
        sa.Column("month", sa.Text, primary_key=True),
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("document", JSONB, nullable=False),
        sa.Column("closed_at_s", sa.Double, nullable=False),
        sa.Column("closed_by", sa.Text, nullable=False),
    )
    op.create_table(
        "budgets",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("user_name", sa.Text, primary_key=True),
        sa.Column("amount", sa.Numeric, nullable=False),
        sa.Column("refuses", sa.Boolean, nullable=False),
        sa.Column("warn_percent", sa.Integer, nullable=False),
    )


def downgrade() -> None:
    for table in ("budgets", "statements", "metered", "price_lists"):
        op.drop_table(table)
    op.drop_column("services", "devices")
