"""When somebody last used an application through the proxy."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "last_uses",
        sa.Column("execution_id", sa.Text, sa.ForeignKey("executions.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("at_s", sa.Double, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("last_uses")
