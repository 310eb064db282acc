"""The longest time limit that an execution of a tenant may have."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tenants", sa.Column("time_limit_s_max", sa.Double))


def downgrade() -> None:
    op.drop_column("tenants", "time_limit_s_max")
