"""What ticks saw, for replays; and daily use, which outlives executions."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "ticks",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), primary_key=True),
        sa.Column("plan_id", sa.Text(), nullable=False),
        sa.Column("at_s", sa.Double(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("read_to", sa.BigInteger(), nullable=False),
        sa.Column("whole", sa.Boolean(), nullable=False),
        sa.Column("inputs", JSONB(), nullable=False),
    )
    op.create_index("ix_ticks_at", "ticks", ["at_s", "id"])
    op.create_index("ix_ticks_whole", "ticks", ["at_s", "id"], postgresql_where=sa.text("whole"))
    op.create_table(
        "retention",
        sa.Column("id", sa.SmallInteger(), primary_key=True, autoincrement=False),
        sa.Column("cut_s", sa.Double(), nullable=False),
    )
    op.create_table(
        "daily_use",
        sa.Column("day", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("tenant", sa.Text(), primary_key=True),
        sa.Column("user_name", sa.Text(), primary_key=True),
        sa.Column("core_s", sa.Double(), nullable=False),
        sa.Column("memory_byte_s", sa.Double(), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("daily_use")
    op.drop_table("retention")
    op.drop_table("ticks")
