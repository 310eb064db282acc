"""How the source of a view is read: types and names of columns, and the signs of its CSV."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    reading = sa.Column("reading", JSONB, nullable=False, server_default=sa.text("'{}'"))
    op.add_column("views", reading, schema="sds")


def downgrade() -> None:
    op.drop_column("views", "reading", schema="sds")
