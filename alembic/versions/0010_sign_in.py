"""Users known by providers, and browsers on their way to one."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("provider", "subject"):
        op.add_column("users", sa.Column(name, sa.Text, nullable=False, server_default=sa.text("''")))
    known = {"unique": True, "postgresql_where": sa.text("provider <> ''")}
    op.create_index("ix_users_subject", "users", ["provider", "subject"], **known)
    op.create_table(
        "sign_ins",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("browser", sa.Text, nullable=False),
        sa.Column("provider", sa.Text, nullable=False),
        sa.Column("nonce", sa.Text, nullable=False),
        sa.Column("verifier", sa.Text, nullable=False),
        sa.Column("next_path", sa.Text, nullable=False),
        sa.Column("expires_at_s", sa.Double, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("sign_ins")
    op.drop_index("ix_users_subject", "users")
    op.drop_column("users", "subject")
    op.drop_column("users", "provider")
