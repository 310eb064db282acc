"""First tables."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = (
    "executions",
    "services",
    "idempotency_keys",
    "journal",
    "platform",
    "policy",
    "leader",
    "users",
    "tenants",
    "memberships",
    "tokens",
    "usage_samples",
)


def upgrade() -> None:
    create_executions()
    create_services()
    create_idempotency_keys()
    create_journal()
    create_platform()
    create_policy()
    create_leader()
    create_users()
    create_tenants()
    create_memberships()
    create_tokens()
    create_usage_samples()


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)


def create_executions() -> None:
    op.create_table(
        "executions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("user_name", sa.Text(), nullable=False),
        sa.Column("application_hash", sa.Text(), nullable=False),
        sa.Column("application", postgresql.JSONB(), nullable=False),
        sa.Column("submitted_at_s", sa.Double(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("failed_attempts", sa.Integer(), nullable=False),
        sa.Column("priority", sa.BigInteger(), nullable=False),
        sa.Column("deadline_s", sa.Double(), nullable=True),
        sa.Column("not_before_s", sa.Double(), nullable=False),
        sa.Column("marks", postgresql.JSONB(), nullable=False),
        sa.Column("started_at_s", sa.Double(), nullable=True),
        sa.Column("ended_at_s", sa.Double(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("exit_code", sa.BigInteger(), nullable=True),
        sa.Column("cause", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("reason", postgresql.JSONB(), nullable=True),
        sa.Column("notes", postgresql.JSONB(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_executions")),
    )
    op.create_index(
        "ix_executions_active",
        "executions",
        ["submitted_at_s", "id"],
        postgresql_where=sa.text("state NOT IN ('succeeded', 'failed', 'cancelled')"),
    )
    op.create_index(
        "ix_executions_ended", "executions", ["ended_at_s"], postgresql_where=sa.text("ended_at_s IS NOT NULL")
    )
    op.create_index("ix_executions_newest", "executions", ["submitted_at_s", "id"])
    op.create_index("ix_executions_state_newest", "executions", ["state", "submitted_at_s", "id"])
    op.create_index("ix_executions_tenant_newest", "executions", ["tenant", "submitted_at_s", "id"])
    op.create_index("ix_executions_user_newest", "executions", ["user_name", "submitted_at_s", "id"])


def create_services() -> None:
    op.create_table(
        "services",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("execution_id", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("component", sa.Text(), nullable=False),
        sa.Column("instance", sa.Integer(), nullable=False),
        sa.Column("core", sa.Boolean(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("cores_milli", sa.BigInteger(), nullable=False),
        sa.Column("memory_bytes", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("node", sa.Text(), nullable=True),
        sa.Column("backend_id", sa.Text(), nullable=True),
        sa.Column("not_before_s", sa.Double(), nullable=False),
        sa.Column("started_at_s", sa.Double(), nullable=True),
        sa.Column("ready_at_s", sa.Double(), nullable=True),
        sa.Column("ended_at_s", sa.Double(), nullable=True),
        sa.Column("exit_code", sa.BigInteger(), nullable=True),
        sa.Column("cause", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["execution_id"], ["executions.id"], name=op.f("fk_services_execution_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_services")),
    )
    op.create_index("ix_services_execution_position", "services", ["execution_id", "position"], unique=True)
    op.create_index(
        "ix_services_on_nodes",
        "services",
        ["node"],
        postgresql_where=sa.text("node IS NOT NULL AND state NOT IN ('ended', 'lost')"),
    )


def create_idempotency_keys() -> None:
    op.create_table(
        "idempotency_keys",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("execution_id", sa.Text(), nullable=False),
        sa.Column("at_s", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "key", name=op.f("pk_idempotency_keys")),
    )
    op.create_index("ix_idempotency_keys_at", "idempotency_keys", ["at_s"])
    op.create_index("ix_idempotency_keys_execution", "idempotency_keys", ["execution_id"])


def create_journal() -> None:
    op.create_table(
        "journal",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("execution_id", sa.Text(), nullable=True),
        sa.Column("tenant", sa.Text(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("at_s", sa.Double(), nullable=False),
        sa.Column("cause_id", sa.Text(), nullable=False),
        sa.Column("data", postgresql.JSONB(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_journal")),
    )
    op.create_index("ix_journal_execution", "journal", ["execution_id", "id"])
    op.create_index("ix_journal_tenant", "journal", ["tenant", "id"])
    op.create_index("ix_journal_nobodys", "journal", ["id"], postgresql_where=sa.text("tenant IS NULL"))


def create_platform() -> None:
    op.create_table(
        "platform",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("ready", sa.Boolean(), nullable=False),
        sa.Column("cores_total_milli", sa.BigInteger(), nullable=False),
        sa.Column("cores_foreign_milli", sa.BigInteger(), nullable=False),
        sa.Column("cores_free_milli", sa.BigInteger(), nullable=False),
        sa.Column("memory_total_bytes", sa.BigInteger(), nullable=False),
        sa.Column("memory_foreign_bytes", sa.BigInteger(), nullable=False),
        sa.Column("memory_free_bytes", sa.BigInteger(), nullable=False),
        sa.Column("devices_total", postgresql.JSONB(), nullable=False),
        sa.Column("devices_foreign", postgresql.JSONB(), nullable=False),
        sa.Column("containers", sa.Integer(), nullable=False),
        sa.Column("labels", postgresql.JSONB(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("seen_at_s", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_platform")),
    )


def create_policy() -> None:
    op.create_table(
        "policy",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("data", postgresql.JSONB(), nullable=False),
        sa.Column("set_at_s", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_policy")),
    )


def create_leader() -> None:
    op.create_table(
        "leader",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_leader")),
    )


def create_users() -> None:
    op.create_table(
        "users", sa.Column("name", sa.Text(), nullable=False), sa.PrimaryKeyConstraint("name", name=op.f("pk_users"))
    )


def create_tenants() -> None:
    op.create_table(
        "tenants",
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_tenants")),
    )


def create_memberships() -> None:
    op.create_table(
        "memberships",
        sa.Column("user_name", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["tenant"], ["tenants.name"], name=op.f("fk_memberships_tenant")),
        sa.ForeignKeyConstraint(["user_name"], ["users.name"], name=op.f("fk_memberships_user_name")),
        sa.PrimaryKeyConstraint("user_name", "tenant", name=op.f("pk_memberships")),
    )
    op.create_index("ix_memberships_tenant", "memberships", ["tenant"])


def create_tokens() -> None:
    op.create_table(
        "tokens",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("user_name", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.Text(), nullable=False),
        sa.Column("scopes", postgresql.JSONB(), nullable=False),
        sa.Column("created_at_s", sa.Double(), nullable=False),
        sa.Column("expires_at_s", sa.Double(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_name", "tenant"],
            ["memberships.user_name", "memberships.tenant"],
            name=op.f("fk_tokens_user_name_tenant"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
    )
    op.create_index("ix_tokens_user", "tokens", ["user_name", "created_at_s", "id"])


def create_usage_samples() -> None:
    op.create_table(
        "usage_samples",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("execution_id", sa.Text(), nullable=False),
        sa.Column("service_id", sa.Text(), nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("at_s", sa.Double(), nullable=False),
        sa.Column("cpu_s", sa.Double(), nullable=False),
        sa.Column("memory_bytes", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_usage_samples")),
    )
    op.create_index("ix_usage_samples_execution", "usage_samples", ["execution_id", "at_s", "id"])
    op.create_index("ix_usage_samples_service", "usage_samples", ["service_id", "at_s", "id"])
