"""Usage over time, of all services."""

from __future__ import annotations

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_usage_samples_at", "usage_samples", ["at_s"])


def downgrade() -> None:
    op.drop_index("ix_usage_samples_at", "usage_samples")
