"""Stored applications, schedules, and what came of their times."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def _member() -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["user_name", "tenant"], ["memberships.user_name", "memberships.tenant"], ondelete="CASCADE"
    )


def upgrade() -> None:
    op.create_table(
        "stored_applications",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("tenant", sa.Text, sa.ForeignKey("tenants.name"), nullable=False),
        sa.Column("user_name", sa.Text),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("document", JSONB, nullable=False),
        sa.Column("made_at_s", sa.Double, nullable=False),
        sa.Column("made_by", sa.Text, nullable=False),
        _member(),
    )
    op.create_index(
        "ix_stored_applications_owner",
        "stored_applications",
        ["tenant", "user_name", "name", "version"],
        unique=True,
        postgresql_nulls_not_distinct=True,
    )
    op.create_table(
        "schedules",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("user_name", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("expression", sa.Text, nullable=False),
        sa.Column("zone", sa.Text, nullable=False),
        sa.Column("application", sa.Text),
        sa.Column("version", sa.Integer),
        sa.Column("document", JSONB),
        sa.Column("parameters", JSONB, nullable=False),
        sa.Column("options", JSONB, nullable=False),
        sa.Column("missed", sa.Text, nullable=False),
        sa.Column("overlap", sa.Text, nullable=False),
        sa.Column("jitter_s", sa.Double, nullable=False),
        sa.Column("end_at_s", sa.Double),
        sa.Column("held", sa.Boolean, nullable=False),
        sa.Column("due_s", sa.Double),
        sa.Column("next_at_s", sa.Double),
        sa.Column("planned_at_s", sa.Double, nullable=False),
        sa.Column("count", sa.Integer, nullable=False),
        sa.Column("made_at_s", sa.Double, nullable=False),
        _member(),
    )
    op.create_index("ix_schedules_owner", "schedules", ["tenant", "user_name", "name"], unique=True)
    op.create_index("ix_schedules_next", "schedules", ["next_at_s"], postgresql_where=sa.text("NOT held"))
    op.create_table(
        "schedule_runs",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("schedule_id", sa.Text, sa.ForeignKey("schedules.id", ondelete="CASCADE"), nullable=False),
        sa.Column("due_s", sa.Double),
        sa.Column("at_s", sa.Double, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("kind", sa.Text),
        sa.Column("run_id", sa.Text),
        sa.Column("code", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
    )
    op.create_index("ix_schedule_runs_newest", "schedule_runs", ["schedule_id", "id"])
    op.create_index("ix_schedule_runs_due", "schedule_runs", ["schedule_id", "due_s"], unique=True)


def downgrade() -> None:
    op.drop_table("schedule_runs")
    op.drop_table("schedules")
    op.drop_table("stored_applications")
