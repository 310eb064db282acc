"""The tables of 0.3.0, the base of later migrations. Older installations upgrade to 0.3.0 first."""

from __future__ import annotations

import re
from pathlib import Path

from alembic import op

revision = "0057"
down_revision = None
branch_labels = None
depends_on = None

_STATEMENTS = Path(__file__).with_suffix(".sql")


def upgrade() -> None:
    op.get_bind().exec_driver_sql(_STATEMENTS.read_text("utf-8"))


def downgrade() -> None:
    tables = re.findall(r"^CREATE TABLE (\w+) ", _STATEMENTS.read_text("utf-8"), re.MULTILINE)
    op.execute(f"DROP TABLE {', '.join(tables)} CASCADE")
    op.execute("DROP SCHEMA sds CASCADE")
