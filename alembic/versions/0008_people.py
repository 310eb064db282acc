"""Passwords, quotas, sessions, failed sign-ins and the audit log; the role `user` keeps its name."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("users", sa.Column("password_hash", sa.Text))
    op.add_column("users", sa.Column("disabled", sa.Boolean, nullable=False, server_default=sa.text("false")))
    op.add_column("tenants", sa.Column("executions_max", sa.Integer))
    op.create_table(
        "sessions",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("user_name", sa.Text, nullable=False),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("created_at_s", sa.Double, nullable=False),
        sa.Column("expires_at_s", sa.Double, nullable=False),
        sa.ForeignKeyConstraint(
            ["user_name", "tenant"], ["memberships.user_name", "memberships.tenant"], ondelete="CASCADE"
        ),
    )
    op.create_index("ix_sessions_user", "sessions", ["user_name"])
    op.create_table(
        "sign_in_failures",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("at_s", sa.Double, nullable=False),
    )
    op.create_index("ix_sign_in_failures_key", "sign_in_failures", ["key", "at_s"])
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("at_s", sa.Double, nullable=False),
        sa.Column("user_name", sa.Text, nullable=False),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("status", sa.SmallInteger),
    )
    op.create_index("ix_audit_user", "audit", ["user_name", "id"])


def downgrade() -> None:
    for table in ("audit", "sign_in_failures", "sessions"):
        op.drop_table(table)
    op.drop_column("tenants", "executions_max")
    op.drop_column("users", "disabled")
    op.drop_column("users", "password_hash")
