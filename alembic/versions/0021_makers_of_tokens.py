"""Which token made a token, so that it ends with that."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_KEY = "fk_tokens_made_by"


def upgrade() -> None:
    op.add_column("tokens", sa.Column("made_by", sa.Text))
    op.create_foreign_key(_KEY, "tokens", "tokens", ["made_by"], ["id"], ondelete="CASCADE")
    op.create_index("ix_tokens_made_by", "tokens", ["made_by"])


def downgrade() -> None:
    op.drop_index("ix_tokens_made_by", "tokens")
    op.drop_constraint(_KEY, "tokens", type_="foreignkey")
    op.drop_column("tokens", "made_by")
