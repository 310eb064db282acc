"""Promises of executions, and what is offered instead of them."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("executions", sa.Column("promise", JSONB))
    op.add_column("executions", sa.Column("offers", JSONB))


def downgrade() -> None:
    op.drop_column("executions", "offers")
    op.drop_column("executions", "promise")
