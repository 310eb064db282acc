"""The tables. Migrations must lead to exactly these (a test compares them)."""

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
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

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
    Column("started_at_s", Double),  # of the marks, for SQL and for retention
    Column("ended_at_s", Double),
    Column("outcome", Text),
    Column("exit_code", BigInteger),
    Column("cause", Text),
    Column("message", Text, nullable=False),
    Column("reason", JSONB(none_as_null=True)),
    Column("forecast", JSONB(none_as_null=True)),
    Column("notes", JSONB, nullable=False),
    Column("inputs", JSONB, nullable=False, server_default=text("'[]'")),  # how inputs with a pushdown are read
    Column("places", JSONB, nullable=False, server_default=text("'[]'")),
    Column("storage_problem", Text, nullable=False, server_default=text("''")),
    Column("granted_s", JSONB, nullable=False, server_default=text("'{}'")),  # by day, before the present grant
)
NEWEST_FIRST = (executions.c.submitted_at_s, executions.c.id)
NOT_TERMINAL = "state NOT IN ('succeeded', 'failed', 'cancelled')"
Index("ix_executions_newest", *NEWEST_FIRST)
Index("ix_executions_tenant_newest", executions.c.tenant, *NEWEST_FIRST)
Index("ix_executions_user_newest", executions.c.user_name, *NEWEST_FIRST)
Index("ix_executions_state_newest", executions.c.state, *NEWEST_FIRST)
Index("ix_executions_active", *NEWEST_FIRST, postgresql_where=text(NOT_TERMINAL))
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

platform = Table(
    "platform",
    metadata,
    Column("name", Text, primary_key=True),
    Column("ready", Boolean, nullable=False),
    Column("cores_total_milli", BigInteger, nullable=False),
    Column("cores_foreign_milli", BigInteger, nullable=False),
    Column("cores_free_milli", BigInteger, nullable=False),  # neither foreign nor reserved when it was seen
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
    Column("storage", JSONB),  # how much the object store can guarantee in all, as last reported to a master
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

# How often the leader has renewed its lease.
lease = Table(
    "lease",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),  # one row
    Column("epoch", BigInteger, nullable=False),
    Column("renewals", BigInteger, nullable=False),
)

users = Table(
    "users",
    metadata,
    Column("name", Text, primary_key=True),
    Column("password_hash", Text),
    Column("disabled", Boolean, nullable=False, server_default=text("false")),
    Column("provider", Text, nullable=False, server_default=text("''")),
    Column("subject", Text, nullable=False, server_default=text("''")),
    Index("ix_users_subject", "provider", "subject", unique=True, postgresql_where=text("provider <> ''")),
)

tenants = Table(
    "tenants",
    metadata,
    Column("name", Text, primary_key=True),
)

# The fields of `Limit` that are set, null for no limit.
limits = Table(
    "limits",
    metadata,
    Column("tenant", Text, primary_key=True),  # *: all tenants without their own limits
    Column("user_name", Text, primary_key=True),  # empty: the tenant as a whole; *: each of its users
    Column("amounts", JSONB, nullable=False),
)

memberships = Table(
    "memberships",
    metadata,
    Column("user_name", Text, ForeignKey("users.name"), primary_key=True),
    Column("tenant", Text, ForeignKey("tenants.name"), primary_key=True),
    Column("role", Text, nullable=False),
    Index("ix_memberships_tenant", "tenant"),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user_name", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("secret_hash", Text, nullable=False),
    Column("scopes", JSONB, nullable=False),
    Column("created_at_s", Double, nullable=False),
    Column("expires_at_s", Double),
    Column("note", Text, nullable=False),
    Column("made_by", Text, ForeignKey("tokens.id", ondelete="CASCADE")),
    ForeignKeyConstraint(["user_name", "tenant"], ["memberships.user_name", "memberships.tenant"], ondelete="CASCADE"),
    Index("ix_tokens_user", "user_name", "created_at_s", "id"),
    Index("ix_tokens_made_by", "made_by"),
)

storage_credentials = Table(
    "storage_credentials",
    metadata,
    Column("tenant", Text, ForeignKey("tenants.name"), primary_key=True),
    Column("service", Text, primary_key=True),
    Column("login", Text, nullable=False),
    Column("sealed", LargeBinary, nullable=False),  # encrypted with a key that is not in the database
    Column("set_at_s", Double, nullable=False),
    Column("set_by", Text, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", Text, primary_key=True),  # the hash of the cookie's secret
    Column("user_name", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("created_at_s", Double, nullable=False),
    Column("expires_at_s", Double, nullable=False),
    Column("proof_hash", Text),  # none: the session can only read
    ForeignKeyConstraint(["user_name", "tenant"], ["memberships.user_name", "memberships.tenant"], ondelete="CASCADE"),
    Index("ix_sessions_user", "user_name"),
)

app_accesses = Table(
    "app_accesses",
    metadata,
    Column("id", Text, primary_key=True),  # the hash of the ticket, then of the cookie's secret
    Column("user_name", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("session_id", Text, ForeignKey("sessions.id", ondelete="CASCADE")),
    Column("token_id", Text, ForeignKey("tokens.id", ondelete="CASCADE")),
    Column("execution_id", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("expires_at_s", Double, nullable=False),
    Column("entered", Boolean, nullable=False),
    Index("ix_app_accesses_session", "session_id"),
    Index("ix_app_accesses_token", "token_id"),
)

sign_ins = Table(
    "sign_ins",
    metadata,
    Column("id", Text, primary_key=True),  # the hash of the state
    Column("browser", Text, nullable=False),
    Column("provider", Text, nullable=False),
    Column("nonce", Text, nullable=False),
    Column("verifier", Text, nullable=False),
    Column("next_path", Text, nullable=False),
    Column("expires_at_s", Double, nullable=False),
)

sign_in_failures = Table(
    "sign_in_failures",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("key", Text, nullable=False),
    Column("at_s", Double, nullable=False),
    Index("ix_sign_in_failures_key", "key", "at_s"),
)

audit = Table(
    "audit",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("at_s", Double, nullable=False),
    Column("user_name", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("request_id", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("status", SmallInteger),  # NULL: the end was not seen
    Column("address", Text, nullable=False, server_default=""),
    Column("changes", JSONB, nullable=False, server_default=text("'{}'")),
    Index("ix_audit_user", "user_name", "id"),
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

# When the storage controller was observed, and which tenants used the store then (bytes per second); if it did not
# measure, achieved and missed are 0 and mean nothing.
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

# What ticks saw outside the journal: for replays.
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

# When an application was last used through the proxy.
last_uses = Table(
    "last_uses",
    metadata,
    Column("execution_id", Text, ForeignKey("executions.id", ondelete="CASCADE"), primary_key=True),
    Column("at_s", Double, nullable=False),
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

# The usage of all ended executions, removed ones included, and how many of them still exist: up to the position in
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
