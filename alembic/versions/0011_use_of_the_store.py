"""What the object store was bound to move for users by day."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("daily_use", sa.Column("store_bytes", sa.Double, nullable=False, server_default=sa.text("0")))


def downgrade() -> None:
    op.drop_column("daily_use", "store_bytes")
