"""Tables of executions: their state, services, journal, keys and uses."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Identity,
    Index,
    Integer,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from zoe_lib.store.tables.metadata import metadata

executions = Table(
    "executions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("user_name", Text, nullable=False),
    Column("application_hash", Text, nullable=False),
    Column("application", JSONB, nullable=False),  # canonical version-4 JSON
    Column("submitted_at_s", Double, nullable=False),
    Column("state", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("failed_attempts", Integer, nullable=False),
    Column("priority", BigInteger, nullable=False),
    Column("deadline_s", Double),
    Column("not_before_s", Double, nullable=False),
    Column("marks", JSONB, nullable=False),
    Column("started_at_s", Double),  # from the marks, for SQL and for retention
    Column("ended_at_s", Double),
    Column("outcome", Text),
    Column("exit_code", BigInteger),
    Column("cause", Text),
    Column("message", Text, nullable=False),
    Column("reason", JSONB(none_as_null=True)),
    Column("forecast", JSONB(none_as_null=True)),
    Column("notes", JSONB, nullable=False),
    Column("inputs", JSONB, nullable=False, server_default=text("'[]'")),  # the way of reading inputs with a pushdown
    Column("places", JSONB, nullable=False, server_default=text("'[]'")),
    Column("storage_problem", Text, nullable=False, server_default=text("''")),
    Column("granted_s", JSONB, nullable=False, server_default=text("'{}'")),  # by day, before the present grant
    Column("conditions", JSONB(none_as_null=True)),  # conditions for the queue, present and past; NULL: none
    Column("earlier", JSONB(none_as_null=True)),  # time lost before its present attempt; NULL: none
    Column("missed", JSONB(none_as_null=True)),  # its deadline, if missed
    Column("promise", JSONB(none_as_null=True)),  # the promise in force
    Column("offers", JSONB(none_as_null=True)),  # the offers
    Column("transfers", JSONB(none_as_null=True)),  # moved with its own credentials that have ended; NULL: unknown
    Column("former_owners", JSONB(none_as_null=True)),  # owners before hand-overs, oldest first; NULL: none
    Column("array_id", Text),  # its array
)
NEWEST_FIRST = (executions.c.submitted_at_s, executions.c.id)
NOT_TERMINAL = "state NOT IN ('succeeded', 'failed', 'cancelled')"
Index("ix_executions_newest", *NEWEST_FIRST)
Index("ix_executions_tenant_newest", executions.c.tenant, *NEWEST_FIRST)
Index("ix_executions_user_newest", executions.c.user_name, *NEWEST_FIRST)
Index("ix_executions_state_newest", executions.c.state, *NEWEST_FIRST)
Index("ix_executions_active", *NEWEST_FIRST, postgresql_where=text(NOT_TERMINAL))
Index("ix_executions_array", executions.c.array_id, *NEWEST_FIRST, postgresql_where=text("array_id IS NOT NULL"))
Index(
    "ix_executions_array_active",
    executions.c.array_id,
    executions.c.state,
    postgresql_where=text(f"array_id IS NOT NULL AND {NOT_TERMINAL}"),
)
Index("ix_executions_alone", executions.c.user_name, *NEWEST_FIRST, postgresql_where=text("array_id IS NULL"))
# Lists of executions with a deadline, by their status.
Index("ix_executions_deadline", *NEWEST_FIRST, postgresql_where=text("deadline_s IS NOT NULL"))
Index("ix_executions_missed", *NEWEST_FIRST, postgresql_where=text("missed IS NOT NULL"))
Index("ix_executions_ended", executions.c.ended_at_s, postgresql_where=text("ended_at_s IS NOT NULL"))

services = Table(
    "services",
    metadata,
    Column("id", Text, primary_key=True),
    Column("execution_id", Text, ForeignKey("executions.id", ondelete="CASCADE"), nullable=False),
    Column("position", Integer, nullable=False),  # the position among the execution's services
    Column("component", Text, nullable=False),
    Column("instance", Integer, nullable=False),
    Column("core", Boolean, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("cores_milli", BigInteger, nullable=False),
    Column("memory_bytes", BigInteger, nullable=False),
    Column("devices", JSONB, nullable=False, server_default=text("'{}'")),
    Column("state", Text, nullable=False),
    Column("node", Text),
    Column("backend_id", Text),
    Column("not_before_s", Double, nullable=False),
    Column("started_at_s", Double),
    Column("ready_at_s", Double),
    Column("ended_at_s", Double),
    Column("exit_code", BigInteger),
    Column("cause", Text),
    Column("message", Text, nullable=False),
    Column("left_files", Text, nullable=False, server_default=text("''")),
    Index("ix_services_execution_position", "execution_id", "position", unique=True),
)
HOLDS_RESERVATION = "node IS NOT NULL AND state NOT IN ('ended', 'lost')"
Index("ix_services_on_nodes", services.c.node, postgresql_where=text(HOLDS_RESERVATION))

journal = Table(
    "journal",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("execution_id", Text),
    Column("tenant", Text),
    Column("version", Integer),
    Column("kind", Text, nullable=False),
    Column("at_s", Double, nullable=False),
    Column("cause_id", Text, nullable=False),
    Column("data", JSONB, nullable=False),
    Index("ix_journal_execution", "execution_id", "id"),
    Index("ix_journal_tenant", "tenant", "id"),
    # Without it, PostgreSQL does not see that for `tenant IS NULL` an index that begins with the tenant is in the order
    # of ids.
    Index("ix_journal_nobodys", "id", postgresql_where=text("tenant IS NULL")),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("execution_id", Text, nullable=False),
    Column("at_s", Double, nullable=False),
    Index("ix_idempotency_keys_at", "at_s"),
    Index("ix_idempotency_keys_execution", "execution_id"),
)

usage_samples = Table(
    "usage_samples",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("execution_id", Text, nullable=False),
    Column("service_id", Text, nullable=False),
    Column("node", Text, nullable=False),
    Column("at_s", Double, nullable=False),
    Column("cpu_s", Double, nullable=False),
    Column("memory_bytes", BigInteger, nullable=False),
    Index("ix_usage_samples_execution", "execution_id", "at_s", "id"),
    Index("ix_usage_samples_service", "service_id", "at_s", "id"),
    Index("ix_usage_samples_at", "at_s"),
)

# Progress of an attempt, as reported by its program: the newest state, which the leader replaces.
progress = Table(
    "progress",
    metadata,
    Column("execution_id", Text, ForeignKey("executions.id", ondelete="CASCADE"), primary_key=True),
    Column("attempt", Integer, nullable=False),
    Column("at_s", Double, nullable=False),
    Column("readings", JSONB, nullable=False),  # [at_s, done, total] of each, oldest first
    Column("text", Text, nullable=False),
    Column("problem", Text, nullable=False),
)

# What the newest Spark queries of an execution read from the object store.
store_queries = Table(
    "store_queries",
    metadata,
    Column("execution_id", Text, ForeignKey("executions.id", ondelete="CASCADE"), primary_key=True),
    Column("queries", JSONB, nullable=False),  # the fields of StoreQuery of each, oldest first
)

# Last use of an application through the proxy.
last_uses = Table(
    "last_uses",
    metadata,
    Column("execution_id", Text, ForeignKey("executions.id", ondelete="CASCADE"), primary_key=True),
    Column("at_s", Double, nullable=False),
)
