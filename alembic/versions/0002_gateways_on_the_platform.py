"""What the gateway of an execution takes on a node."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

COLUMNS = ("gateway_cores_milli", "gateway_memory_bytes")


def upgrade() -> None:
    for name in COLUMNS:
        op.add_column("platform", sa.Column(name, sa.BigInteger(), nullable=False, server_default="0"))
        op.alter_column("platform", name, server_default=None)


def downgrade() -> None:
    for name in COLUMNS:
        op.drop_column("platform", name)
