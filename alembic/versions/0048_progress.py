"""How far executions are, by what their programs tell."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "progress",
        sa.Column("execution_id", sa.Text, sa.ForeignKey("executions.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("at_s", sa.Double, nullable=False),
        sa.Column("readings", JSONB, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("progress")
