"""Workflows: their documents, and which executions their steps have."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "workflows",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("user_name", sa.Text, nullable=False),
        sa.Column("document", JSONB, nullable=False),
        sa.Column("parameters", JSONB, nullable=False),
        sa.Column("run", sa.Integer, nullable=False),
        sa.Column("submitted_at_s", sa.Double, nullable=False),
    )
    op.create_index("ix_workflows_newest", "workflows", ["tenant", "submitted_at_s", "id"])
    op.create_table(
        "workflow_steps",
        sa.Column(
            "execution_id",
            sa.Text,
            sa.ForeignKey("executions.id", name="fk_workflow_steps_execution_id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column(
            "workflow_id",
            sa.Text,
            sa.ForeignKey("workflows.id", name="fk_workflow_steps_workflow_id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("run", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("facts", JSONB, nullable=False),
    )
    op.create_index("ix_workflow_steps_workflow", "workflow_steps", ["workflow_id", "position", "run"])


def downgrade() -> None:
    op.drop_table("workflow_steps")
    op.drop_table("workflows")
