"""Executions that sign in to the object store with credentials of their own."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "executions",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("generation", sa.BigInteger, sa.Identity(), nullable=False),
        sa.Column("get_bw", sa.BigInteger),
        sa.Column("put_bw", sa.BigInteger),
        sa.CheckConstraint("get_bw > 0 AND put_bw > 0"),
        schema="sds",
    )


def downgrade() -> None:
    op.drop_table("executions", schema="sds")
