"""What the back-end can run, beside what its nodes have room for: told before anything is started."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "capabilities",
        sa.Column("id", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("data", JSONB, nullable=False),
        sa.Column("set_at_s", sa.Double, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("capabilities")
