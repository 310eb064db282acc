"""Up to which refused time of a schedule a target has been told."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("notification_targets", sa.Column("refusals_id", sa.BigInteger, nullable=False, server_default="0"))
    # What was refused before is no news.
    op.execute("UPDATE notification_targets SET refusals_id = (SELECT coalesce(max(id), 0) FROM schedule_runs)")
    op.alter_column("notification_targets", "refusals_id", server_default=None)
    refused = sa.text("outcome = 'refused'")
    op.create_index("ix_schedule_runs_refused", "schedule_runs", ["id"], postgresql_where=refused)


def downgrade() -> None:
    op.drop_index("ix_schedule_runs_refused", "schedule_runs")
    op.drop_column("notification_targets", "refusals_id")
