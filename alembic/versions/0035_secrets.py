"""Secrets of users and tenants, encrypted with a key that is not in the database."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "secrets",
        sa.Column("tenant", sa.Text, sa.ForeignKey("tenants.name"), nullable=False),
        sa.Column("user_name", sa.Text),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
        sa.Column("size_bytes", sa.Integer, nullable=False),
        sa.Column("set_at_s", sa.Double, nullable=False),
        sa.Column("set_by", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["user_name", "tenant"], ["memberships.user_name", "memberships.tenant"], ondelete="CASCADE"
        ),
    )
    op.create_index("ix_secrets_user", "secrets", ["tenant", "user_name", "name"], unique=True)
    of_tenant = sa.text("user_name IS NULL")
    op.create_index("ix_secrets_tenant", "secrets", ["tenant", "name"], unique=True, postgresql_where=of_tenant)


def downgrade() -> None:
    op.drop_table("secrets")
