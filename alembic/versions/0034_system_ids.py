"""The system users and groups that programs of users and tenants run as."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "system_ids",
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("number", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_system_ids_number", "system_ids", ["number"], unique=True)


def downgrade() -> None:
    op.drop_table("system_ids")
