"""Bandwidth of the object store over time."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table("bandwidth_looks", sa.Column("at_s", sa.Double, primary_key=True, autoincrement=False))
    op.create_table(
        "bandwidth_samples",
        sa.Column("at_s", sa.Double, sa.ForeignKey("bandwidth_looks.at_s", ondelete="CASCADE"), primary_key=True),
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("granted_read", sa.BigInteger, nullable=False),
        sa.Column("granted_write", sa.BigInteger, nullable=False),
        sa.Column("achieved_read", sa.BigInteger, nullable=False),
        sa.Column("achieved_write", sa.BigInteger, nullable=False),
        sa.Column("missed_read", sa.BigInteger, nullable=False),
        sa.Column("missed_write", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_bandwidth_samples_tenant", "bandwidth_samples", ["tenant", "at_s"])


def downgrade() -> None:
    op.drop_table("bandwidth_samples")
    op.drop_table("bandwidth_looks")
