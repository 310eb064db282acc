"""Schedules that only operators may release."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("schedules", sa.Column("held_by_operator", sa.Boolean, nullable=False, server_default=sa.false()))
    op.alter_column("schedules", "held_by_operator", server_default=None)


def downgrade() -> None:
    op.drop_column("schedules", "held_by_operator")
