"""Keep the owners before hand-overs, and when the statement of a closed month was issued."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0066"
down_revision = "0065"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("executions", sa.Column("former_owners", JSONB(none_as_null=True)))
    op.add_column("statements", sa.Column("issued_at_s", sa.Double))
    # Who has seen the months closed so far is not known.
    op.execute("UPDATE statements SET issued_at_s = closed_at_s WHERE tenant = ''")


def downgrade() -> None:
    op.drop_column("statements", "issued_at_s")
    op.drop_column("executions", "former_owners")
