"""What became of deadlines: which were missed and why, and what executions lost before their present attempt."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None

_NEWEST = ["submitted_at_s", "id"]


def upgrade() -> None:
    op.add_column("executions", sa.Column("earlier", JSONB))
    op.add_column("executions", sa.Column("missed", JSONB))
    op.add_column("arrays", sa.Column("late_count", sa.Integer))
    op.create_index("ix_executions_deadline", "executions", _NEWEST, postgresql_where=sa.text("deadline_s IS NOT NULL"))
    op.create_index("ix_executions_missed", "executions", _NEWEST, postgresql_where=sa.text("missed IS NOT NULL"))


def downgrade() -> None:
    op.drop_index("ix_executions_missed", "executions")
    op.drop_index("ix_executions_deadline", "executions")
    op.drop_column("arrays", "late_count")
    op.drop_column("executions", "missed")
    op.drop_column("executions", "earlier")
