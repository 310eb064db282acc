"""WebAssembly modules that are filters of objects: names of tenants, and contents by digest."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "module_contents",
        sa.Column("sha256", sa.Text, primary_key=True),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.Column("reads", sa.Boolean, nullable=False),
        sa.Column("same_size", sa.Boolean, nullable=False),
        sa.Column("sent", sa.Boolean, nullable=False, server_default=sa.text("false")),
        schema="sds",
    )
    op.create_table(
        "modules",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("sha256", sa.Text, sa.ForeignKey("sds.module_contents.sha256"), nullable=False),
        sa.Column("author", sa.Text),
        sa.Column("created_s", sa.Double, nullable=False),
        schema="sds",
    )


def downgrade() -> None:
    op.drop_table("modules", schema="sds")
    op.drop_table("module_contents", schema="sds")
