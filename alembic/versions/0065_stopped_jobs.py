"""Mark jobs that may submit nothing more, because their descendants were cancelled."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0065"
down_revision = "0064"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "stopped_jobs",
        sa.Column("unit", sa.Text, primary_key=True),
        sa.Column("at_s", sa.Double, nullable=False),
    )
    op.create_index("ix_job_submissions_parent_unit", "job_submissions", [sa.text("split_part(parent_id, '_', 1)")])


def downgrade() -> None:
    op.drop_index("ix_job_submissions_parent_unit", "job_submissions")
    op.drop_table("stopped_jobs")
