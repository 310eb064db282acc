"""Arrays: a row for each, a byte for each index; which executions belong to one."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

_NEWEST = ("submitted_at_s", "id")


def upgrade() -> None:
    op.create_table(
        "arrays",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("user_name", sa.Text, nullable=False),
        sa.Column("application_hash", sa.Text, nullable=False),
        sa.Column("application", JSONB, nullable=False),
        sa.Column("submitted_at_s", sa.Double, nullable=False),
        sa.Column("indices", sa.Text, nullable=False),
        sa.Column("at_once", sa.Integer),
        sa.Column("priority", sa.BigInteger, nullable=False),
        sa.Column("deadline_s", sa.Double),
        sa.Column("conditions", JSONB),
        sa.Column("corr", JSONB, nullable=False),
        sa.Column("notes", JSONB, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("run", sa.Integer, nullable=False),
        sa.Column("ended_at_s", sa.Double),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("counts", JSONB, nullable=False),
    )
    op.create_index("ix_arrays_newest", "arrays", _NEWEST)
    op.create_index("ix_arrays_tenant_newest", "arrays", ("tenant", *_NEWEST))
    op.create_index("ix_arrays_open", "arrays", ["id"], postgresql_where=sa.text("ended_at_s IS NULL"))
    op.create_index("ix_arrays_ended", "arrays", ["ended_at_s"], postgresql_where=sa.text("ended_at_s IS NOT NULL"))
    op.create_table(
        "array_states",
        sa.Column("array_id", sa.Text, sa.ForeignKey("arrays.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("part", sa.Integer, primary_key=True),
        sa.Column("states", sa.LargeBinary, nullable=False),
    )
    op.add_column("executions", sa.Column("array_id", sa.Text))
    op.create_index(
        "ix_executions_array", "executions", ("array_id", *_NEWEST), postgresql_where=sa.text("array_id IS NOT NULL")
    )
    op.create_index(
        "ix_executions_alone", "executions", ("user_name", *_NEWEST), postgresql_where=sa.text("array_id IS NULL")
    )


def downgrade() -> None:
    op.drop_index("ix_executions_alone", "executions")
    op.drop_index("ix_executions_array", "executions")
    op.drop_column("executions", "array_id")
    op.drop_table("array_states")
    op.drop_table("arrays")
