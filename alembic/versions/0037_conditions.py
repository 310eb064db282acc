"""Conditions that keep an execution from the queue: holds, begin times, dependencies."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("executions", sa.Column("conditions", JSONB))


def downgrade() -> None:
    op.drop_column("executions", "conditions")
