"""Several storage controllers with one database: one of them leads."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "lead",
        sa.Column("epoch", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("renewals", sa.BigInteger, nullable=False),
        schema="sds",
    )
    op.execute("INSERT INTO sds.lead (epoch, holder, renewals) VALUES (0, '', 0)")


def downgrade() -> None:
    op.drop_table("lead", schema="sds")
