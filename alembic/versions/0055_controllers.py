"""Controllers of the object store: whether each is on, off or tried only, and when rules were switched."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("policies", sa.Column("mode", sa.Text, nullable=False, server_default="on"), schema="sds")
    op.create_check_constraint("policies_mode_check", "policies", "mode IN ('on', 'dry', 'off')", schema="sds")
    op.create_table(
        "controllers",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("mode", sa.Text, nullable=False),
        sa.CheckConstraint("mode IN ('on', 'dry', 'off')"),
        schema="sds",
    )
    op.create_table(
        "switches",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column("controller", sa.Text, nullable=False),
        sa.Column("at_s", sa.Double, nullable=False),
        sa.Column("active", sa.Boolean, nullable=False),
        sa.Column("dry", sa.Boolean, nullable=False),
        sa.Column("metrics", JSONB, nullable=False),
        schema="sds",
    )
    op.create_index("ix_switches_controller", "switches", ["controller", "id"], schema="sds")


def downgrade() -> None:
    op.drop_table("switches", schema="sds")
    op.drop_table("controllers", schema="sds")
    op.drop_column("policies", "mode", schema="sds")
