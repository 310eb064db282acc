"""Store the arrays of workflow steps that run for each entry of a list, and their entries."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0063"
down_revision = "0062"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("arrays", sa.Column("entries", JSONB))
    op.create_table(
        "array_entries",
        sa.Column("array_id", sa.Text, sa.ForeignKey("arrays.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("entry", sa.Text, nullable=False),
    )
    op.create_table(
        "workflow_arrays",
        sa.Column("array_id", sa.Text, sa.ForeignKey("arrays.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("workflow_id", sa.Text, sa.ForeignKey("workflows.id", ondelete="CASCADE"), nullable=False),
        sa.Column("run", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("facts", JSONB, nullable=False),
    )
    op.create_index("ix_workflow_arrays_workflow", "workflow_arrays", ["workflow_id", "position", "run"])


def downgrade() -> None:
    op.drop_table("workflow_arrays")
    op.drop_table("array_entries")
    op.drop_column("arrays", "entries")
