"""Tables of arrays: a row for each, and the states of its indices in parts."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, Integer, LargeBinary, Table, Text, text
from sqlalchemy.dialects.postgresql import JSONB

from zoe_lib.store.tables.metadata import metadata

arrays = Table(
    "arrays",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("user_name", Text, nullable=False),
    Column("application_hash", Text, nullable=False),
    Column("application", JSONB, nullable=False),
    Column("submitted_at_s", Double, nullable=False),
    Column("indices", Text, nullable=False),
    Column("at_once", Integer),
    Column("priority", BigInteger, nullable=False),
    Column("deadline_s", Double),
    Column("conditions", JSONB(none_as_null=True)),
    Column("corr", JSONB, nullable=False),
    Column("notes", JSONB, nullable=False),
    Column("version", Integer, nullable=False),
    Column("run", Integer, nullable=False),
    Column("ended_at_s", Double),
    Column("late_count", Integer),  # indices without an execution at the deadline
    Column("message", Text, nullable=False),
    Column("counts", JSONB, nullable=False),
    Column("entries", JSONB(none_as_null=True)),  # the array's list, without its entries
)
NEWEST_FIRST = (arrays.c.submitted_at_s, arrays.c.id)
Index("ix_arrays_newest", *NEWEST_FIRST)
Index("ix_arrays_tenant_newest", arrays.c.tenant, *NEWEST_FIRST)
Index("ix_arrays_open", arrays.c.id, postgresql_where=text("ended_at_s IS NULL"))
Index("ix_arrays_ended", arrays.c.ended_at_s, postgresql_where=text("ended_at_s IS NOT NULL"))

# An end rewrites the part that contains its index, so parts are small; a part has a byte for each index.
PART = 4096
array_states = Table(
    "array_states",
    metadata,
    Column("array_id", Text, ForeignKey("arrays.id", ondelete="CASCADE"), primary_key=True),
    Column("part", Integer, primary_key=True),
    Column("states", LargeBinary, nullable=False),
)

# As JSON in a text, since jsonb would write some numbers in another form.
array_entries = Table(
    "array_entries",
    metadata,
    Column("array_id", Text, ForeignKey("arrays.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("entry", Text, nullable=False),
)
