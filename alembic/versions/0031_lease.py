"""The leader has an endpoint, and a lease that it renews."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("leader", sa.Column("endpoint", sa.Text, nullable=False, server_default=""))
    op.create_table(
        "lease",
        sa.Column("id", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("renewals", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("lease")
    op.drop_column("leader", "endpoint")
