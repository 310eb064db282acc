"""Tables of the installation: nodes, policy, leader, limits, records of ticks, retention."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Identity,
    Index,
    Integer,
    SmallInteger,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from zoe_lib.store.tables.metadata import metadata

platform = Table(
    "platform",
    metadata,
    Column("name", Text, primary_key=True),
    Column("ready", Boolean, nullable=False),
    Column("cores_total_milli", BigInteger, nullable=False),
    Column("cores_foreign_milli", BigInteger, nullable=False),
    Column("cores_free_milli", BigInteger, nullable=False),  # neither foreign nor reserved when last seen
    Column("memory_total_bytes", BigInteger, nullable=False),
    Column("memory_foreign_bytes", BigInteger, nullable=False),
    Column("memory_free_bytes", BigInteger, nullable=False),
    Column("devices_total", JSONB, nullable=False),
    Column("devices_foreign", JSONB, nullable=False),
    Column("gateway_cores_milli", BigInteger, nullable=False),
    Column("gateway_memory_bytes", BigInteger, nullable=False),
    Column("containers", Integer, nullable=False),
    Column("labels", JSONB, nullable=False),
    Column("message", Text, nullable=False),
    Column("seen_at_s", Double, nullable=False),
)

capabilities = Table(
    "capabilities",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),  # one row
    Column("version", BigInteger, nullable=False),
    Column("data", JSONB, nullable=False),
    Column("storage", JSONB),  # total guarantees of the object store, as last reported to a master
    Column("set_at_s", Double, nullable=False),
)

policy = Table(
    "policy",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),  # one row
    Column("version", Integer, nullable=False),
    Column("data", JSONB, nullable=False),
    Column("set_at_s", Double, nullable=False),
)

leader = Table(
    "leader",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),  # one row
    Column("epoch", BigInteger, nullable=False),
    Column("holder", Text, nullable=False),
    # the leader's endpoint; empty: the one in the API's settings
    Column("endpoint", Text, nullable=False, server_default=""),
)

# Number of the leader's renewals of its lease.
lease = Table(
    "lease",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),  # one row
    Column("epoch", BigInteger, nullable=False),
    Column("renewals", BigInteger, nullable=False),
)

# The set fields of `Limit`, null for unlimited.
limits = Table(
    "limits",
    metadata,
    Column("tenant", Text, primary_key=True),  # *: all tenants without their own limits
    Column("user_name", Text, primary_key=True),  # empty: the tenant as a whole; *: each of its users
    Column("amounts", JSONB, nullable=False),
)

# Facts of ticks outside the journal, for replays.
ticks = Table(
    "ticks",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("plan_id", Text, nullable=False),
    Column("at_s", Double, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("read_to", BigInteger, nullable=False),
    Column("whole", Boolean, nullable=False),
    Column("inputs", JSONB, nullable=False),
    Index("ix_ticks_at", "at_s", "id"),
    Index("ix_ticks_whole", "at_s", "id", postgresql_where=text("whole")),
)

retention = Table(
    "retention",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),  # one row
    Column("cut_s", Double, nullable=False),  # executions that ended earlier may have been removed
)
