"""Metrics of an installation's own for rules of the object store, and words that name filters."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "metrics",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("id", sa.BigInteger, sa.Identity(), nullable=False, unique=True),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("attributes", JSONB, nullable=False),
        sa.Column("mode", sa.Text, nullable=False, server_default="on"),
        sa.Column("author", sa.Text),
        sa.Column("created_s", sa.Double, nullable=False),
        sa.CheckConstraint("source IN ('prometheus', 'python', 'none')"),
        sa.CheckConstraint("mode IN ('on', 'dry', 'off')"),
        schema="sds",
    )
    op.create_table(
        "filter_words",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("filter", sa.Text, nullable=False),
        sa.Column("parameters", JSONB, nullable=False),
        sa.Column("attributes", JSONB, nullable=False),
        schema="sds",
    )


def downgrade() -> None:
    op.drop_table("filter_words", schema="sds")
    op.drop_table("metrics", schema="sds")
