"""Rules of the object store: who wrote them and when, what was removed, and the words that they use."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None

# The type of objects that the founding document's rules name.
_DOCS = ("csv", "doc", "docx", "htm", "html", "json", "log", "md", "odp", "ods", "odt", "pdf", "ppt", "pptx", "rtf",
         "txt", "xls", "xlsx", "xml")  # fmt: skip


def upgrade() -> None:
    op.add_column("policies", sa.Column("author", sa.Text), schema="sds")
    op.add_column("policies", sa.Column("created_s", sa.Double), schema="sds")
    op.add_column("policies", sa.Column("removed_by", sa.Text), schema="sds")
    op.add_column("policies", sa.Column("removed_s", sa.Double), schema="sds")
    present = sa.text("removed_s IS NULL")
    op.create_index("ix_policies_present", "policies", ["id"], schema="sds", postgresql_where=present)
    op.create_table(
        "groups",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("members", JSONB, nullable=False),
        schema="sds",
    )
    types = op.create_table(
        "object_types",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("endings", JSONB, nullable=False),
        schema="sds",
    )
    op.bulk_insert(types, [{"name": "DOCS", "endings": list(_DOCS)}])


def downgrade() -> None:
    op.drop_table("object_types", schema="sds")
    op.drop_table("groups", schema="sds")
    op.execute("DELETE FROM sds.policies WHERE removed_s IS NOT NULL")
    op.drop_index("ix_policies_present", "policies", schema="sds")
    for name in ("removed_s", "removed_by", "created_s", "author"):
        op.drop_column("policies", name, schema="sds")
