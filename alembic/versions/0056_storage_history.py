"""What executions asked of the store and when; since when a job waits for the store, so that it ends some time."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None

_BYTES = ("read_bytes", "written_bytes")


def upgrade() -> None:
    op.add_column("rewrites", sa.Column("waits_since_s", sa.Double), schema="sds")
    op.create_table(
        "execution_uses",
        sa.Column("generation", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("proxy", sa.Text, primary_key=True),
        sa.Column("subject", sa.Text, primary_key=True),
        sa.Column("born", sa.BigInteger, primary_key=True),
        sa.Column("execution_id", sa.Text, nullable=False),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in ("done", "refused", *_BYTES)),
        sa.Column("changed_s", sa.Double, nullable=False),
        schema="sds",
    )
    op.create_table(
        "execution_spans",
        sa.Column("execution_id", sa.Text, primary_key=True),
        sa.Column("at_s", sa.Double, primary_key=True),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in _BYTES),
        schema="sds",
    )
    op.create_index("ix_sds_execution_uses_execution_id", "execution_uses", ["execution_id"], schema="sds")
    op.create_index("ix_sds_execution_spans_at_s", "execution_spans", ["at_s"], schema="sds")


def downgrade() -> None:
    op.drop_table("execution_spans", schema="sds")
    op.drop_table("execution_uses", schema="sds")
    op.drop_column("rewrites", "waits_since_s", schema="sds")
