"""Volumes of blocks, with the epochs of their attachments."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0071"
down_revision = "0070"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "volumes",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("tenant", sa.Text, sa.ForeignKey("tenants.name"), nullable=False),
        sa.Column("user_name", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("size_bytes", sa.BigInteger, nullable=False),
        sa.Column("policy", sa.Text, nullable=False),
        sa.Column("filters", JSONB, nullable=False),
        sa.Column("made_at_s", sa.Double, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("execution_id", sa.Text),
        sa.Column("service_id", sa.Text),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
    )
    op.create_index("ix_volumes_owner", "volumes", ["tenant", "user_name", "name"], unique=True)


def downgrade() -> None:
    op.drop_index("ix_volumes_owner", "volumes")
    op.drop_table("volumes")
