"""Keep what the Spark queries of each execution read from the object store."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0070"
down_revision = "0069"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "store_queries",
        sa.Column("execution_id", sa.Text, sa.ForeignKey("executions.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("queries", JSONB, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("store_queries")
