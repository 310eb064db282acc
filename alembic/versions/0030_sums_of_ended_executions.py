"""Sums of what has ended: the use by day, and how many executions there are in each state.

They begin empty; the master fills them from the journal. Nothing reads them before that.
"""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0030"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "use_by_day",
        sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("user_name", sa.Text, primary_key=True),
        sa.Column("core_s", sa.Double, nullable=False),
        sa.Column("memory_byte_s", sa.Double, nullable=False),
        sa.Column("store_bytes", sa.Double, nullable=False),
    )
    op.create_table(
        "ended_counts",
        sa.Column("state", sa.Text, primary_key=True),
        sa.Column("executions", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "summed_up",
        sa.Column("id", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("journal_id", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    for table in ("summed_up", "ended_counts", "use_by_day"):
        op.drop_table(table)
