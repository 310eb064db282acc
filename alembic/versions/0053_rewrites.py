"""Objects that the storage controller has stored again, and how far it is."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None

_COUNTS = ("expected", "looked", "changed", "kept", "failed", "bytes", "changed_bytes")


def upgrade() -> None:
    op.create_table(
        "rewrites",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("container", sa.Text, nullable=False),
        sa.Column("plain", sa.Boolean, nullable=False),
        sa.Column("dry_run", sa.Boolean, nullable=False),
        sa.Column("bytes_per_s", sa.BigInteger, nullable=False),
        sa.Column("author", sa.Text),
        sa.Column("created_s", sa.Double, nullable=False),
        sa.Column("ended_s", sa.Double),
        sa.Column("cancelled", sa.Boolean, nullable=False, server_default=sa.text("false")),
        sa.Column("sentence", sa.Text, nullable=False, server_default=""),
        sa.Column("waits", sa.Text, nullable=False, server_default=""),
        sa.Column("at_container", sa.Text, nullable=False, server_default=""),
        sa.Column("at_object", sa.Text, nullable=False, server_default=""),
        *(sa.Column(name, sa.BigInteger, nullable=False, server_default=sa.text("0")) for name in _COUNTS),
        schema="sds",
    )


def downgrade() -> None:
    op.drop_table("rewrites", schema="sds")
