"""Mark executions that other users could open, whose offered tokens have ended."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0067"
down_revision = "0066"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "opened_executions",
        sa.Column("execution_id", sa.Text, primary_key=True),
        sa.Column("at_s", sa.Double, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("opened_executions")
