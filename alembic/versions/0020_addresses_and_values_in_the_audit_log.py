"""From which address a change was asked for, and the old and the new values, in the audit log."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("audit", sa.Column("address", sa.Text, nullable=False, server_default=""))
    op.add_column("audit", sa.Column("changes", JSONB, nullable=False, server_default=sa.text("'{}'")))


def downgrade() -> None:
    op.drop_column("audit", "changes")
    op.drop_column("audit", "address")
