"""Tables of stored applications, of schedules, and of the outcomes of their times."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    Table,
    Text,
)
from sqlalchemy.dialects.postgresql import JSONB

from zoe_lib.store.tables.metadata import metadata

_MEMBER = (["user_name", "tenant"], ["memberships.user_name", "memberships.tenant"])

stored_applications = Table(
    "stored_applications",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("tenant", Text, ForeignKey("tenants.name"), nullable=False),
    Column("user_name", Text),  # NULL: the tenant's
    Column("name", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("document", JSONB, nullable=False),
    Column("made_at_s", Double, nullable=False),
    Column("made_by", Text, nullable=False),
    ForeignKeyConstraint(*_MEMBER, ondelete="CASCADE"),
)
Index(
    "ix_stored_applications_owner",
    stored_applications.c.tenant,
    stored_applications.c.user_name,
    stored_applications.c.name,
    stored_applications.c.version,
    unique=True,
    postgresql_nulls_not_distinct=True,
)

schedules = Table(
    "schedules",
    metadata,
    Column("id", Text, primary_key=True),
    Column("tenant", Text, nullable=False),
    Column("user_name", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("expression", Text, nullable=False),
    Column("zone", Text, nullable=False),
    Column("application", Text),
    Column("version", Integer),
    Column("document", JSONB(none_as_null=True)),
    Column("parameters", JSONB, nullable=False),
    Column("options", JSONB, nullable=False),
    Column("missed", Text, nullable=False),
    Column("overlap", Text, nullable=False),
    Column("jitter_s", Double, nullable=False),
    Column("end_at_s", Double),
    Column("held", Boolean, nullable=False),
    Column("held_by_operator", Boolean, nullable=False),
    Column("due_s", Double),
    Column("next_at_s", Double),
    Column("planned_at_s", Double, nullable=False),
    Column("count", Integer, nullable=False),
    Column("made_at_s", Double, nullable=False),
    ForeignKeyConstraint(*_MEMBER, ondelete="CASCADE"),
    Index("ix_schedules_owner", "tenant", "user_name", "name", unique=True),
)
Index("ix_schedules_next", schedules.c.next_at_s, postgresql_where=~schedules.c.held)

# Without `due_s` for a user's run; else once for each time, so that none is made twice, whatever the clock shows.
schedule_runs = Table(
    "schedule_runs",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("schedule_id", Text, ForeignKey("schedules.id", ondelete="CASCADE"), nullable=False),
    Column("due_s", Double),
    Column("at_s", Double, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("kind", Text),
    Column("run_id", Text),
    Column("code", Text, nullable=False),
    Column("message", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Index("ix_schedule_runs_newest", "schedule_id", "id"),
    Index("ix_schedule_runs_due", "schedule_id", "due_s", unique=True),
)
# Each target polls every second for unsent refused times, mostly without a result.
Index("ix_schedule_runs_refused", schedule_runs.c.id, postgresql_where=schedule_runs.c.outcome == "refused")
