"""What the object store can promise is kept with the capabilities: both say what this installation can run."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("capabilities", sa.Column("storage", JSONB))
    op.execute(
        """
        INSERT INTO capabilities (id, version, data, storage, set_at_s)
        SELECT 1, 1, '{}', jsonb_build_object('read', read_bytes_per_s, 'write', write_bytes_per_s), seen_at_s
        FROM storage_capacity
        ON CONFLICT (id) DO UPDATE SET storage = EXCLUDED.storage, version = capabilities.version + 1
        """
    )
    op.drop_table("storage_capacity")


def downgrade() -> None:
    op.create_table(
        "storage_capacity",
        sa.Column("id", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("read_bytes_per_s", sa.BigInteger, nullable=False),
        sa.Column("write_bytes_per_s", sa.BigInteger, nullable=False),
        sa.Column("seen_at_s", sa.Double, nullable=False),
    )
    op.execute(
        """
        INSERT INTO storage_capacity (id, read_bytes_per_s, write_bytes_per_s, seen_at_s)
        SELECT 1, least((storage->>'read')::numeric, 9223372036854775807)::bigint,
               least((storage->>'write')::numeric, 9223372036854775807)::bigint, set_at_s
        FROM capabilities WHERE storage IS NOT NULL
        """
    )
    op.drop_column("capabilities", "storage")
