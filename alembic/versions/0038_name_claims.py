"""Names in the object store that a rename takes or leaves at the moment."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "name_claims",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("until_s", sa.Double, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("name_claims")
