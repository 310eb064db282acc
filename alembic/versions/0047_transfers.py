"""What executions move to and from the object store: counted by the controller, kept in the journal, priced."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "transfers",
        sa.Column("generation", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("execution_id", sa.Text, nullable=False),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("transferring_us", sa.BigInteger, nullable=False, server_default=sa.text("0")),
        sa.Column("ended_s", sa.Double),
        sa.Column("final_s", sa.Double),
        sa.Column("whole", sa.Boolean),
        schema="sds",
    )
    op.create_table(
        "transfer_counts",
        sa.Column("generation", sa.BigInteger, sa.ForeignKey("sds.transfers.generation", ondelete="CASCADE")),
        sa.Column("proxy", sa.Text),
        sa.Column("born", sa.BigInteger),
        sa.Column("read_bytes", sa.BigInteger, nullable=False),
        sa.Column("written_bytes", sa.BigInteger, nullable=False),
        sa.Column("transferring_us", sa.BigInteger, nullable=False),
        sa.Column("waiting_us", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("generation", "proxy", "born"),
        schema="sds",
    )
    # What is counted of executions that have a credential begins now.
    op.execute(
        "INSERT INTO sds.transfers (generation, execution_id, tenant, owner) "
        "SELECT generation, id, tenant, owner FROM sds.executions"
    )
    op.create_table(
        "transfers_so_far",
        sa.Column("execution_id", sa.Text, sa.ForeignKey("executions.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("generation", sa.BigInteger, nullable=False),
        sa.Column("at_s", sa.Double, nullable=False),
        sa.Column("read_bytes", sa.BigInteger, nullable=False),
        sa.Column("written_bytes", sa.BigInteger, nullable=False),
        sa.Column("transferring_s", sa.Double, nullable=False),
        sa.Column("waiting_s", sa.Double, nullable=False),
    )
    op.add_column("executions", sa.Column("transfers", JSONB))
    for name in ("read_bytes", "written_bytes"):
        op.add_column("metered", sa.Column(name, sa.BigInteger, nullable=False, server_default=sa.text("0")))


def downgrade() -> None:
    for name in ("read_bytes", "written_bytes"):
        op.drop_column("metered", name)
    op.drop_column("executions", "transfers")
    op.drop_table("transfers_so_far")
    op.drop_table("transfer_counts", schema="sds")
    op.drop_table("transfers", schema="sds")
