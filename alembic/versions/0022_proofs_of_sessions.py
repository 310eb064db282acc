"""The hash of the second secret of a session; those of before have none, and only read."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", sa.Column("proof_hash", sa.Text))


def downgrade() -> None:
    op.drop_column("sessions", "proof_hash")
