"""What nodes held of the inputs of executions when they were placed."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("executions", sa.Column("places", JSONB, nullable=False, server_default=sa.text("'[]'")))


def downgrade() -> None:
    op.drop_column("executions", "places")
