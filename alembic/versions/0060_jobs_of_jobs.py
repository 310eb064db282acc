"""Store the parent and the ancestors of executions that jobs submit with their tokens."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0060"
down_revision = "0059"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "job_submissions",
        sa.Column("child_id", sa.Text, primary_key=True),
        sa.Column("parent_id", sa.Text, nullable=False),
        sa.Column("parent_attempt", sa.Integer, nullable=False),
        sa.Column("root", sa.Text, nullable=False),
        sa.Column("ancestors", sa.ARRAY(sa.Text), nullable=False),
        sa.Column("at_s", sa.Double, nullable=False),
    )
    op.create_index("ix_job_submissions_root", "job_submissions", ["root", "at_s"])
    op.create_index("ix_job_submissions_ancestors", "job_submissions", ["ancestors"], postgresql_using="gin")
    op.create_index("ix_job_submissions_parent", "job_submissions", ["parent_id", "at_s"])


def downgrade() -> None:
    op.drop_table("job_submissions")
