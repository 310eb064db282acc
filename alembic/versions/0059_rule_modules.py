"""Store the module versions that rules run; the upgrade fills in the versions in use at that time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import sqlalchemy as sa

from alembic import op

revision = "0059"
down_revision = "0058"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "rule_modules",
        sa.Column("rule", sa.BigInteger, sa.ForeignKey("sds.policies.id"), primary_key=True),
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("sha256", sa.Text, sa.ForeignKey("sds.module_contents.sha256"), nullable=False),
        schema="sds",
    )
    op.create_table(
        "module_versions",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("sha256", sa.Text, sa.ForeignKey("sds.module_contents.sha256"), primary_key=True),
        sa.Column("author", sa.Text),
        sa.Column("created_s", sa.Double, nullable=False),
        sa.Column("idle_since_s", sa.Double),
        schema="sds",
    )
    for table in ("rule_modules", "module_versions"):
        op.create_index(f"ix_{table}_sha256", table, ["sha256"], schema="sds")
    op.execute(
        "INSERT INTO sds.module_versions (tenant, name, sha256, author, created_s)"
        " SELECT tenant, name, sha256, author, created_s FROM sds.modules"
    )
    _pin(op.get_bind())


def downgrade() -> None:
    op.drop_table("module_versions", schema="sds")
    op.drop_table("rule_modules", schema="sds")


def _pin(connection: sa.Connection) -> None:
    def rows(text: str) -> list[Any]:
        return list(connection.execute(sa.text(text)))

    modules = {(row.tenant, row.name): row.sha256 for row in rows("SELECT tenant, name, sha256 FROM sds.modules")}
    groups = {row.name: row.members for row in rows("SELECT name, members FROM sds.groups")}
    words = {row.name: row.filter for row in rows("SELECT name, filter FROM sds.filter_words")}
    rules = rows("SELECT id, target, actions FROM sds.policies WHERE removed_s IS NULL")
    made = [
        {"rule": rule.id, "tenant": tenant, "name": name, "sha256": modules[tenant, name]}
        for rule in rules
        for name in {words.get(entry["filter"].upper(), entry["filter"]).lower() for entry in _set(rule.actions)}
        for tenant in _owners(rule.target, name, modules, groups)
    ]
    if made:
        text = "INSERT INTO sds.rule_modules (rule, tenant, name, sha256) VALUES (:rule, :tenant, :name, :sha256)"
        connection.execute(sa.text(text), made)


def _set(actions: Any) -> list[Mapping[str, Any]]:
    return [action for action in actions if action["verb"] == "SET"]


def _owners(
    target: str, name: str, modules: Mapping[tuple[str, str], str], groups: Mapping[str, list[str]]
) -> Iterator[str]:
    """Yield the tenants that own the modules of this name which the rule ran: one shared module, or one for each
    tenant.
    """
    kind, _, place = target.partition(":")
    if ("", name) in modules:
        yield ""
        return
    places = groups.get(place, []) if kind == "G" else [place]
    yield from {place.partition("/")[0] for place in places if (place.partition("/")[0], name) in modules}
