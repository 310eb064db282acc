"""Executions are their owner's: who else sees one, and what that gives."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

_MEMBER = ["memberships.user_name", "memberships.tenant"]


def upgrade() -> None:
    op.create_table(
        "shares",
        sa.Column("execution_id", sa.Text, sa.ForeignKey("executions.id", ondelete="CASCADE"), nullable=False),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("user_name", sa.Text),
        sa.Column("level", sa.Text, nullable=False),
        sa.Column("at_s", sa.Double, nullable=False),
        sa.ForeignKeyConstraint(["owner", "tenant"], _MEMBER, ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_name", "tenant"], _MEMBER, ondelete="CASCADE"),
    )
    op.create_index("ix_shares_user", "shares", ["execution_id", "user_name"], unique=True)
    of_tenant = sa.text("user_name IS NULL")
    op.create_index("ix_shares_tenant", "shares", ["execution_id"], unique=True, postgresql_where=of_tenant)
    op.create_index("ix_shares_given", "shares", ["tenant", "user_name"])
    op.create_index("ix_shares_owner", "shares", ["tenant", "owner"])


def downgrade() -> None:
    op.drop_table("shares")
