"""Tables of sums and averages: usage by day, ended executions, bandwidth."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    Table,
    Text,
    text,
)

from zoe_lib.store.tables.metadata import metadata

# Observations of the storage controller, and the tenants that used the store then (bytes per second); without a
# measurement, achieved and missed are 0 and mean nothing.
bandwidth_looks = Table(
    "bandwidth_looks",
    metadata,
    Column("at_s", Double, primary_key=True, autoincrement=False),
    Column("measured", Boolean, nullable=False, server_default=text("true")),
)

bandwidth_samples = Table(
    "bandwidth_samples",
    metadata,
    Column("at_s", Double, ForeignKey("bandwidth_looks.at_s", ondelete="CASCADE"), primary_key=True),
    Column("tenant", Text, primary_key=True),
    Column("granted_read", BigInteger, nullable=False),
    Column("granted_write", BigInteger, nullable=False),
    Column("achieved_read", BigInteger, nullable=False),
    Column("achieved_write", BigInteger, nullable=False),
    Column("missed_read", BigInteger, nullable=False),
    Column("missed_write", BigInteger, nullable=False),
    Index("ix_bandwidth_samples_tenant", "tenant", "at_s"),
)

# Bytes that running executions have moved so far with the credential of this generation, as last reported by the
# controller.
transfers_so_far = Table(
    "transfers_so_far",
    metadata,
    Column("execution_id", Text, ForeignKey("executions.id", ondelete="CASCADE"), primary_key=True),
    Column("generation", BigInteger, nullable=False),
    Column("at_s", Double, nullable=False),
    Column("read_bytes", BigInteger, nullable=False),
    Column("written_bytes", BigInteger, nullable=False),
    Column("transferring_s", Double, nullable=False),
    Column("waiting_s", Double, nullable=False),
)

# The usage of removed executions.
daily_use = Table(
    "daily_use",
    metadata,
    Column("day", Integer, primary_key=True, autoincrement=False),  # since the epoch, UTC
    Column("tenant", Text, primary_key=True),
    Column("user_name", Text, primary_key=True),
    Column("core_s", Double, nullable=False),
    Column("memory_byte_s", Double, nullable=False),
    Column("store_bytes", Double, nullable=False, server_default=text("0")),
)

# The usage of all ended executions, including removed ones, and the number that still exist: up to the position in
# `summed_up`.
use_by_day = Table(
    "use_by_day",
    metadata,
    Column("day", Integer, primary_key=True, autoincrement=False),  # since the epoch, UTC
    Column("tenant", Text, primary_key=True),
    Column("user_name", Text, primary_key=True),
    Column("core_s", Double, nullable=False),
    Column("memory_byte_s", Double, nullable=False),
    Column("store_bytes", Double, nullable=False),
)

ended_counts = Table(
    "ended_counts",
    metadata,
    Column("state", Text, primary_key=True),
    Column("executions", BigInteger, nullable=False),
)

summed_up = Table(
    "summed_up",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),  # one row
    Column("journal_id", BigInteger, nullable=False),  # ends in the journal up to this id are in the sums
)
