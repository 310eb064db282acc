"""The table of volumes of blocks."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, LargeBinary, Table, Text
from sqlalchemy.dialects.postgresql import JSONB

from zoe_lib.store.tables.metadata import metadata

volumes = Table(
    "volumes",
    metadata,
    Column("id", Text, primary_key=True),
    Column("tenant", Text, ForeignKey("tenants.name"), nullable=False),
    Column("user_name", Text, nullable=False),  # stays after the membership: only `rm` removes data
    Column("name", Text, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("policy", Text, nullable=False),
    Column("filters", JSONB, nullable=False),
    Column("made_at_s", Double, nullable=False),
    Column("state", Text, nullable=False),
    Column("epoch", BigInteger, nullable=False),  # of the newest attachment
    Column("execution_id", Text),  # of the newest attachment
    Column("service_id", Text),
    Column("sealed", LargeBinary, nullable=False),  # the key of its encryption; empty without
    Index("ix_volumes_owner", "tenant", "user_name", "name", unique=True),
)
