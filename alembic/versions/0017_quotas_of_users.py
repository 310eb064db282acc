"""How many executions of one user may wait or run at the same time."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tenants", sa.Column("executions_of_user_max", sa.Integer))


def downgrade() -> None:
    op.drop_column("tenants", "executions_of_user_max")
