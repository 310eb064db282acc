"""For how long an execution's bandwidth was granted before it was withdrawn, by day."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("executions", sa.Column("granted_s", JSONB, nullable=False, server_default=sa.text("'{}'")))


def downgrade() -> None:
    op.drop_column("executions", "granted_s")
