"""How tenants log in to services of the object store."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "storage_credentials",
        sa.Column("tenant", sa.Text, sa.ForeignKey("tenants.name"), primary_key=True),
        sa.Column("service", sa.Text, primary_key=True),
        sa.Column("login", sa.Text, nullable=False),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
        sa.Column("set_at_s", sa.Double, nullable=False),
        sa.Column("set_by", sa.Text, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("storage_credentials")
