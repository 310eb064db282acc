"""Targets of notifications, and how far the journal was read for them."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "notification_targets",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("tenant", sa.Text, sa.ForeignKey("tenants.name"), nullable=False),
        sa.Column("user_name", sa.Text),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("kinds", JSONB, nullable=False),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
        sa.Column("set_at_s", sa.Double, nullable=False),
        sa.Column("set_by", sa.Text, nullable=False),
        sa.Column("done_id", sa.BigInteger, nullable=False),
        sa.Column("news_id", sa.BigInteger, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("failing_since_s", sa.Double),
        sa.Column("next_at_s", sa.Double, nullable=False),
        sa.Column("last_error", sa.Text, nullable=False),
        sa.Column("told_at_s", sa.Double),
        sa.Column("stopped", sa.Boolean, nullable=False),
        sa.Column("test", sa.Boolean, nullable=False),
        sa.ForeignKeyConstraint(
            ["user_name", "tenant"], ["memberships.user_name", "memberships.tenant"], ondelete="CASCADE"
        ),
    )
    op.create_index(
        "ix_notification_targets_owner",
        "notification_targets",
        ["tenant", "user_name", "name"],
        unique=True,
        postgresql_nulls_not_distinct=True,
    )
    op.create_table(
        "notification_progress",
        sa.Column("id", sa.SmallInteger, primary_key=True),
        sa.Column("after_id", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("notification_progress")
    op.drop_table("notification_targets")
