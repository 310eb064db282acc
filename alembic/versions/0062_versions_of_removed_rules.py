"""Keep the module versions that removed rules ran; they are unknown for rules removed before this migration."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0062"
down_revision = "0060"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("policies", sa.Column("ran", JSONB), schema="sds")


def downgrade() -> None:
    op.drop_column("policies", "ran", schema="sds")
