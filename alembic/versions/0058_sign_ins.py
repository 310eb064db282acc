"""Store the network from which a sign-in began, and the time at which a provider last confirmed a user."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sign_ins", sa.Column("network", sa.Text, nullable=False, server_default=sa.text("''")))
    op.add_column("users", sa.Column("confirmed_at_s", sa.Double, nullable=False, server_default=sa.text("0")))


def downgrade() -> None:
    op.drop_column("users", "confirmed_at_s")
    op.drop_column("sign_ins", "network")
