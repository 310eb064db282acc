"""What the object store can promise in all, so that the API can say what it never can."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "storage_capacity",
        sa.Column("id", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("read_bytes_per_s", sa.BigInteger, nullable=False),
        sa.Column("write_bytes_per_s", sa.BigInteger, nullable=False),
        sa.Column("seen_at_s", sa.Double, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("storage_capacity")
