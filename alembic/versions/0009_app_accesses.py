"""Ways into running applications."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "app_accesses",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("user_name", sa.Text, nullable=False),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id", ondelete="CASCADE")),
        sa.Column("token_id", sa.Text, sa.ForeignKey("tokens.id", ondelete="CASCADE")),
        sa.Column("execution_id", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("expires_at_s", sa.Double, nullable=False),
        sa.Column("entered", sa.Boolean, nullable=False),
    )
    op.create_index("ix_app_accesses_session", "app_accesses", ["session_id"])
    op.create_index("ix_app_accesses_token", "app_accesses", ["token_id"])


def downgrade() -> None:
    op.drop_table("app_accesses")
