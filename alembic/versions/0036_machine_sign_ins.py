"""Machines that ask for a token, which a signed-in user allows in a browser."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "machine_sign_ins",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("code", sa.Text, nullable=False),
        sa.Column("machine", sa.Text, nullable=False),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("network", sa.Text, nullable=False),
        sa.Column("scopes", JSONB, nullable=False),
        sa.Column("lifetime_s", sa.Double),
        sa.Column("asked_at_s", sa.Double, nullable=False),
        sa.Column("expires_at_s", sa.Double, nullable=False),
        sa.Column("refused", sa.Boolean, nullable=False),
        sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id", ondelete="CASCADE")),
    )
    op.create_index("ix_machine_sign_ins_code", "machine_sign_ins", ["code"], unique=True)
    op.create_index("ix_machine_sign_ins_session", "machine_sign_ins", ["session_id"])


def downgrade() -> None:
    op.drop_table("machine_sign_ins")
