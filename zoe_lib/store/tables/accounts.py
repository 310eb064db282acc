"""Tables of accounts: users, tenants, and their tokens, sessions and sign-ins; the audit log."""

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
    SmallInteger,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from zoe_lib.store.tables.metadata import metadata

users = Table(
    "users",
    metadata,
    Column("name", Text, primary_key=True),
    Column("password_hash", Text),
    Column("disabled", Boolean, nullable=False, server_default=text("false")),
    Column("provider", Text, nullable=False, server_default=text("''")),
    Column("subject", Text, nullable=False, server_default=text("''")),
    Column(
        "confirmed_at_s", Double, nullable=False, server_default=text("0")
    ),  # time of the provider's last confirmation
    Index("ix_users_subject", "provider", "subject", unique=True, postgresql_where=text("provider <> ''")),
)

tenants = Table(
    "tenants",
    metadata,
    Column("name", Text, primary_key=True),
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

secrets = Table(
    "secrets",
    metadata,
    Column("tenant", Text, ForeignKey("tenants.name"), nullable=False),
    Column("user_name", Text),  # NULL: of the tenant
    Column("name", Text, nullable=False),
    Column("sealed", LargeBinary, nullable=False),  # as above
    Column("size_bytes", Integer, nullable=False),
    Column("set_at_s", Double, nullable=False),
    Column("set_by", Text, nullable=False),
    ForeignKeyConstraint(["user_name", "tenant"], ["memberships.user_name", "memberships.tenant"], ondelete="CASCADE"),
    Index("ix_secrets_user", "tenant", "user_name", "name", unique=True),
    Index("ix_secrets_tenant", "tenant", "name", unique=True, postgresql_where=text("user_name IS NULL")),
)

notification_targets = Table(
    "notification_targets",
    metadata,
    Column("id", Text, primary_key=True),
    Column("tenant", Text, ForeignKey("tenants.name"), nullable=False),
    Column("user_name", Text),  # NULL: of the tenant
    Column("name", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("kinds", JSONB, nullable=False),
    Column("sealed", LargeBinary, nullable=False),  # as above
    Column("set_at_s", Double, nullable=False),
    Column("set_by", Text, nullable=False),
    Column("done_id", BigInteger, nullable=False),
    Column("news_id", BigInteger, nullable=False),
    Column("refusals_id", BigInteger, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("failing_since_s", Double),
    Column("next_at_s", Double, nullable=False),
    Column("last_error", Text, nullable=False),
    Column("told_at_s", Double),
    Column("stopped", Boolean, nullable=False),
    Column("test", Boolean, nullable=False),
    ForeignKeyConstraint(["user_name", "tenant"], ["memberships.user_name", "memberships.tenant"], ondelete="CASCADE"),
    Index(
        "ix_notification_targets_owner", "tenant", "user_name", "name", unique=True, postgresql_nulls_not_distinct=True
    ),
)

# The journal id up to which targets are marked for news; one row.
notification_progress = Table(
    "notification_progress",
    metadata,
    Column("id", SmallInteger, primary_key=True),
    Column("after_id", BigInteger, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", Text, primary_key=True),  # the hash of the cookie's secret
    Column("user_name", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("created_at_s", Double, nullable=False),
    Column("expires_at_s", Double, nullable=False),
    Column("proof_hash", Text),  # NULL: the session can only read
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

shares = Table(
    "shares",
    metadata,
    Column("execution_id", Text, ForeignKey("executions.id", ondelete="CASCADE"), nullable=False),
    Column("tenant", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("user_name", Text),  # NULL: all members of the tenant
    Column("level", Text, nullable=False),
    Column("at_s", Double, nullable=False),
    ForeignKeyConstraint(["owner", "tenant"], ["memberships.user_name", "memberships.tenant"], ondelete="CASCADE"),
    ForeignKeyConstraint(["user_name", "tenant"], ["memberships.user_name", "memberships.tenant"], ondelete="CASCADE"),
)
OF_TENANT = text("user_name IS NULL")
Index("ix_shares_user", shares.c.execution_id, shares.c.user_name, unique=True)
Index("ix_shares_tenant", shares.c.execution_id, unique=True, postgresql_where=OF_TENANT)
Index("ix_shares_given", shares.c.tenant, shares.c.user_name)
Index("ix_shares_owner", shares.c.tenant, shares.c.owner)

# System users and groups of programs. Rows are never removed: a reused number would own old files.
system_ids = Table(
    "system_ids",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("number", BigInteger, nullable=False),
    Index("ix_system_ids_number", "number", unique=True),
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
    Column("network", Text, nullable=False, server_default=text("''")),
)

machine_sign_ins = Table(
    "machine_sign_ins",
    metadata,
    Column("id", Text, primary_key=True),  # the hash of the machine's secret
    Column("code", Text, nullable=False),
    Column("machine", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("network", Text, nullable=False),
    Column("scopes", JSONB, nullable=False),
    Column("lifetime_s", Double),
    Column("asked_at_s", Double, nullable=False),
    Column("expires_at_s", Double, nullable=False),
    Column("refused", Boolean, nullable=False),
    Column("session_id", Text, ForeignKey("sessions.id", ondelete="CASCADE")),  # the session of the user who allows it
    Index("ix_machine_sign_ins_code", "code", unique=True),
    Index("ix_machine_sign_ins_session", "session_id"),
)

name_claims = Table(
    "name_claims",
    metadata,
    Column("id", Text, primary_key=True),  # hash of an address and a name in the object store
    Column("holder", Text, nullable=False),
    Column("until_s", Double, nullable=False),
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
    Column("status", SmallInteger),  # NULL: the end was not recorded
    Column("address", Text, nullable=False, server_default=""),
    Column("changes", JSONB, nullable=False, server_default=text("'{}'")),
    Index("ix_audit_user", "user_name", "id"),
)
