"""Tables of prices: lists, statements of closed months, budgets, and metered use of removed executions."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Double, Identity, Index, Integer, Numeric, Table, Text, text
from sqlalchemy.dialects.postgresql import JSONB

from zoe_lib.store.tables.metadata import metadata

# Never changed and never deleted: `replaced_at_s` is the time at which a list was replaced or removed, before it began.
price_lists = Table(
    "price_lists",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("from_us", BigInteger, nullable=False),
    Column("document", JSONB, nullable=False),
    Column("set_at_s", Double, nullable=False),
    Column("set_by", Text, nullable=False),
    Column("replaced_at_s", Double),
    Index("ix_price_lists_from", "from_us", unique=True, postgresql_where=text("replaced_at_s IS NULL")),
)

# Resources that a removed execution held in the cluster and the object store, one row for each interval without a
# change.
metered = Table(
    "metered",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("execution_id", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("user_name", Text, nullable=False),
    Column("application", Text, nullable=False),
    Column("from_s", Double, nullable=False),
    Column("to_s", Double, nullable=False),
    Column("cores_milli", BigInteger, nullable=False),
    Column("memory_bytes", BigInteger, nullable=False),
    Column("devices", JSONB, nullable=False),
    Column("bytes_per_s", BigInteger, nullable=False),
    Column("views", Integer, nullable=False),
    # Moved at `from_s`; `to_s` is equal then.
    Column("read_bytes", BigInteger, nullable=False, server_default=text("0")),
    Column("written_bytes", BigInteger, nullable=False, server_default=text("0")),
    Index("ix_metered_to", "to_s"),
)

# A closed month, as it was charged; without a tenant, the month itself.
statements = Table(
    "statements",
    metadata,
    Column("month", Text, primary_key=True),
    Column("tenant", Text, primary_key=True),
    Column("document", JSONB, nullable=False),
    Column("closed_at_s", Double, nullable=False),
    Column("closed_by", Text, nullable=False),
    Column("issued_at_s", Double),  # of the month itself: when somebody but an admin got a statement, or a file of it
)

budgets = Table(
    "budgets",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("user_name", Text, primary_key=True),  # empty: the tenant as a whole
    Column("amount", Numeric, nullable=False),
    Column("refuses", Boolean, nullable=False),
    Column("warn_percent", Integer, nullable=False),
)
