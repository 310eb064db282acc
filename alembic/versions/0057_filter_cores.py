"""Cores that an admin lets filters and views of a tenant take at each proxy."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "filter_cores",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("cores", sa.Double, nullable=False),
        sa.Column("author", sa.Text),
        sa.Column("at_s", sa.Double, nullable=False),
        sa.CheckConstraint("cores > 0"),
        schema="sds",
    )


def downgrade() -> None:
    op.drop_table("filter_cores", schema="sds")
