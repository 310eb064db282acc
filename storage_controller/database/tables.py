"""The controller's tables, in a schema beside Zoe's."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

SCHEMA = "sds"
metadata = sa.MetaData(schema=SCHEMA)

projects = sa.Table(
    "projects",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
)
slos = sa.Table(
    "slos",
    metadata,
    sa.Column("project_id", sa.Text, primary_key=True),
    sa.Column("policy_id", sa.Text, primary_key=True),
    sa.Column("slo_name", sa.Text, primary_key=True),
    sa.Column("bytes_per_s", sa.BigInteger, nullable=False),
    # The owner and the end of its lease; NULL: no owner, no end.
    sa.Column("owner", sa.Text),
    sa.CheckConstraint("bytes_per_s > 0"),
    sa.CheckConstraint("slo_name IN ('get_bw', 'put_bw', 'ssync_bw')"),
)
leases = sa.Table(
    "leases",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("until_s", sa.Double, nullable=False),
)
filters = sa.Table(
    "filters",
    metadata,
    sa.Column("dsl_name", sa.Text, primary_key=True),
    sa.Column("attributes", JSONB, nullable=False),
    sa.Column("data", sa.LargeBinary),
)
# Rules. Removed ones stay as history; the author of a rule or a removal is NULL if the client does not state one.
policies = sa.Table(
    "policies",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    sa.Column("target", sa.Text, nullable=False),
    sa.Column("rule", sa.Text, nullable=False),
    sa.Column("actions", JSONB, nullable=False),
    sa.Column("author", sa.Text),
    sa.Column("created_s", sa.Double),
    sa.Column("removed_by", sa.Text),
    sa.Column("removed_s", sa.Double),
    sa.Column("mode", sa.Text, nullable=False, server_default="on"),
    # Versions of modules of a removed rule; NULL: the rule exists, or was removed by an earlier version.
    sa.Column("ran", JSONB),
    sa.CheckConstraint("mode IN ('on', 'dry', 'off')", name="policies_mode_check"),
    sa.Index("ix_policies_present", "id", postgresql_where=sa.text("removed_s IS NULL")),
)
# Names that rules use: lists of tenants and of <tenant>/<container>, and of endings of names.
groups = sa.Table(
    "groups",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("members", JSONB, nullable=False),
)
object_types = sa.Table(
    "object_types",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("endings", JSONB, nullable=False),
)
# Metrics of rules that an installation added. text: a PromQL expression, or a Python program.
metrics = sa.Table(
    "metrics",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("id", sa.BigInteger, sa.Identity(), nullable=False, unique=True),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("attributes", JSONB, nullable=False),
    sa.Column("mode", sa.Text, nullable=False, server_default="on"),
    sa.Column("author", sa.Text),
    sa.Column("created_s", sa.Double, nullable=False),
    sa.CheckConstraint("source IN ('prometheus', 'python', 'none')"),
    sa.CheckConstraint("mode IN ('on', 'dry', 'off')"),
)
# Aliases in rules of a filter with parameters.
filter_words = sa.Table(
    "filter_words",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("filter", sa.Text, nullable=False),
    sa.Column("parameters", JSONB, nullable=False),
    sa.Column("attributes", JSONB, nullable=False),
)
# What clients of Crystal's API register and no other table has, by kind; data: an uploaded file.
crystal_records = sa.Table(
    "crystal_records",
    metadata,
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("attributes", JSONB, nullable=False),
    sa.Column("data", sa.LargeBinary),
)
# Controllers whose mode differs from the default, on. A rule's mode is with the rule, a metric's with the metric.
controllers = sa.Table(
    "controllers",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("mode", sa.Text, nullable=False),
    sa.CheckConstraint("mode IN ('on', 'dry', 'off')"),
)
# Cores for filters and views of a tenant at each proxy, set by an admin; *: all other tenants.
filter_cores = sa.Table(
    "filter_cores",
    metadata,
    sa.Column("tenant", sa.Text, primary_key=True),
    sa.Column("cores", sa.Double, nullable=False),
    sa.Column("author", sa.Text),
    sa.Column("at_s", sa.Double, nullable=False),
    sa.CheckConstraint("cores > 0"),
)
# Begin or end of the condition of a rule with metrics, with the values at that time.
switches = sa.Table(
    "switches",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    sa.Column("controller", sa.Text, nullable=False),
    sa.Column("at_s", sa.Double, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("dry", sa.Boolean, nullable=False),
    sa.Column("metrics", JSONB, nullable=False),
    sa.Index("ix_switches_controller", "controller", "id"),
)
# WebAssembly modules: their files, and each tenant's names for them; an empty tenant stands for shared ones. sent: a
# proxy has it, so that stored objects may need it.
module_contents = sa.Table(
    "module_contents",
    metadata,
    sa.Column("sha256", sa.Text, primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),
    sa.Column("reads", sa.Boolean, nullable=False),
    sa.Column("same_size", sa.Boolean, nullable=False),
    sa.Column("sent", sa.Boolean, nullable=False, server_default=sa.text("false")),
)
modules = sa.Table(
    "modules",
    metadata,
    sa.Column("tenant", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("sha256", sa.Text, sa.ForeignKey(module_contents.c.sha256), nullable=False),
    sa.Column("author", sa.Text),
    sa.Column("created_s", sa.Double, nullable=False),
)
# Versions of modules that rules run; an empty tenant stands for shared ones.
rule_modules = sa.Table(
    "rule_modules",
    metadata,
    sa.Column("rule", sa.BigInteger, sa.ForeignKey(policies.c.id), primary_key=True),
    sa.Column("tenant", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("sha256", sa.Text, sa.ForeignKey(module_contents.c.sha256), nullable=False),
    sa.Index("ix_rule_modules_sha256", "sha256"),
)
# Stored versions of a tenant's modules: the newest, and versions that rules run or objects may need. idle_since_s:
# since when no rule runs it; NULL: a rule runs it, or none ever did.
module_versions = sa.Table(
    "module_versions",
    metadata,
    sa.Column("tenant", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("sha256", sa.Text, sa.ForeignKey(module_contents.c.sha256), primary_key=True),
    sa.Column("author", sa.Text),
    sa.Column("created_s", sa.Double, nullable=False),
    sa.Column("idle_since_s", sa.Double),
    sa.Index("ix_module_versions_sha256", "sha256"),
)
# Jobs that rewrite objects, one at a time. An empty container: all of the tenant's. All objects up to the cursor,
# `at_container` and `at_object`, are done.
rewrites = sa.Table(
    "rewrites",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    sa.Column("tenant", sa.Text, nullable=False),
    sa.Column("container", sa.Text, nullable=False),
    sa.Column("plain", sa.Boolean, nullable=False),
    sa.Column("dry_run", sa.Boolean, nullable=False),
    sa.Column("bytes_per_s", sa.BigInteger, nullable=False),
    sa.Column("author", sa.Text),
    sa.Column("created_s", sa.Double, nullable=False),
    sa.Column("ended_s", sa.Double),
    sa.Column("cancelled", sa.Boolean, nullable=False, server_default=sa.text("false")),
    sa.Column("sentence", sa.Text, nullable=False, server_default=""),
    sa.Column("waits", sa.Text, nullable=False, server_default=""),
    sa.Column("waits_since_s", sa.Double),
    sa.Column("at_container", sa.Text, nullable=False, server_default=""),
    sa.Column("at_object", sa.Text, nullable=False, server_default=""),
    *(
        sa.Column(name, sa.BigInteger, nullable=False, server_default=sa.text("0"))
        for name in ("expected", "looked", "changed", "kept", "failed", "bytes", "changed_bytes")
    ),
)
views = sa.Table(
    "views",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("tenant", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("columns", JSONB, nullable=False),
    sa.Column("where", sa.Text),
    sa.Column("owner", sa.Text),
    sa.Column("reading", JSONB, nullable=False, server_default=sa.text("'{}'")),
)
# Executions as users of the store. Rates are guarantees; a new credential has a higher generation.
executions = sa.Table(
    "executions",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("tenant", sa.Text, nullable=False),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("generation", sa.BigInteger, sa.Identity(), nullable=False),
    sa.Column("get_bw", sa.BigInteger),
    sa.Column("put_bw", sa.BigInteger),
    sa.CheckConstraint("get_bw > 0 AND put_bw > 0"),
)
# Transfers with each credential of an execution, until its owner has fetched them after the end. transferring_us: of
# all proxies together. `whole`: all proxies have reported since the end.
transfers = sa.Table(
    "transfers",
    metadata,
    sa.Column("generation", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("execution_id", sa.Text, nullable=False),
    sa.Column("tenant", sa.Text, nullable=False),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("transferring_us", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    sa.Column("ended_s", sa.Double),
    sa.Column("final_s", sa.Double),
    sa.Column("whole", sa.Boolean),
)
# Counters of proxies; one that starts anew has another time of birth.
transfer_counts = sa.Table(
    "transfer_counts",
    metadata,
    sa.Column("generation", sa.ForeignKey(transfers.c.generation, ondelete="CASCADE"), primary_key=True),
    sa.Column("proxy", sa.Text, primary_key=True),
    sa.Column("born", sa.BigInteger, primary_key=True),
    sa.Column("read_bytes", sa.BigInteger, nullable=False),
    sa.Column("written_bytes", sa.BigInteger, nullable=False),
    sa.Column("transferring_us", sa.BigInteger, nullable=False),
    sa.Column("waiting_us", sa.BigInteger, nullable=False),
)
# Requests of executions by subject, and the bytes of each half a minute; for some days. No foreign keys: they outlive
# the credentials.
execution_uses = sa.Table(
    "execution_uses",
    metadata,
    sa.Column("generation", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("proxy", sa.Text, primary_key=True),
    sa.Column("subject", sa.Text, primary_key=True),
    sa.Column("born", sa.BigInteger, primary_key=True),
    sa.Column("execution_id", sa.Text, nullable=False, index=True),
    sa.Column("tenant", sa.Text, nullable=False),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("done", sa.BigInteger, nullable=False),
    sa.Column("refused", sa.BigInteger, nullable=False),
    sa.Column("read_bytes", sa.BigInteger, nullable=False),
    sa.Column("written_bytes", sa.BigInteger, nullable=False),
    sa.Column("changed_s", sa.Double, nullable=False),
)
execution_spans = sa.Table(
    "execution_spans",
    metadata,
    sa.Column("execution_id", sa.Text, primary_key=True),
    sa.Column("at_s", sa.Double, primary_key=True, index=True),
    sa.Column("tenant", sa.Text, nullable=False),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("read_bytes", sa.BigInteger, nullable=False),
    sa.Column("written_bytes", sa.BigInteger, nullable=False),
)
# One row. Its key changes with the leader, so that a lock on the key locks the lead.
lead = sa.Table(
    "lead",
    metadata,
    sa.Column("epoch", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("holder", sa.Text, nullable=False),
    sa.Column("renewals", sa.BigInteger, nullable=False),
)
