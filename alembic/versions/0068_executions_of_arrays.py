"""Find the unfinished executions of an array by an index, for its state."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0068"
down_revision = "0067"
branch_labels = None
depends_on = None


def upgrade() -> None:
    unfinished = sa.text("array_id IS NOT NULL AND state NOT IN ('succeeded', 'failed', 'cancelled')")
    op.create_index("ix_executions_array_active", "executions", ["array_id", "state"], postgresql_where=unfinished)


def downgrade() -> None:
    op.drop_index("ix_executions_array_active", "executions")
