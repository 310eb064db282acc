"""Keep what clients of Crystal's API register and Zoe has no table for: numbers of groups, controllers, zones."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0069"
down_revision = "0068"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "crystal_records",
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("attributes", JSONB, nullable=False),
        sa.Column("data", sa.LargeBinary),
        schema="sds",
    )


def downgrade() -> None:
    op.drop_table("crystal_records", schema="sds")
