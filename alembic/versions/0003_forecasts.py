"""What the user of an execution was told of its start and end."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("executions", sa.Column("forecast", JSONB(none_as_null=True)))


def downgrade() -> None:
    op.drop_column("executions", "forecast")
