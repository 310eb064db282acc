"""Versions of modules that rules run, in PostgreSQL: the newest one when the rule was added, until an admin moves the
rule. So an upload does not change an admin's rules.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from storage_controller.answers import RequestRefusedError
from storage_controller.database.tables import module_contents, module_versions, modules, rule_modules
from storage_controller.rules.module_ledger import versions
from storage_filters.filter_host.records import KINDS
from storage_filters.rules.documents import SHARED
from storage_filters.rules.rules import Action, ModuleVersion, Rule, TargetKind

Groups = Mapping[str, Collection[str]]
Named = tuple[str, str]
"""Tenant and name of a module."""
Ran = tuple[str, str, str]
"""Tenant and name of a module, and the SHA-256 of the version that a rule ran."""


@dataclass(frozen=True, slots=True)
class RuleModule:
    """A version that a rule runs, of a tenant's module or a shared one (an empty tenant). newest: there is no newer
    one. only_here: the version is removed when this rule no longer runs it.
    """

    rule: int
    tenant: str
    version: ModuleVersion
    newest: bool
    only_here: bool = False

    @property
    def kind(self) -> str:
        """Return the kind of filter."""
        return self.version.name.upper()


def read_rule_modules(connection: sa.Connection) -> Mapping[int, Sequence[RuleModule]]:
    """Return the versions that rules run, by rule."""
    pins, names = rule_modules.c, modules.c
    same = sa.and_(names.tenant == pins.tenant, names.name == pins.name)
    content, others = module_contents.c, rule_modules.alias().c
    further = sa.select(others.rule).where(
        others.tenant == pins.tenant, others.name == pins.name, others.sha256 == pins.sha256, others.rule != pins.rule
    )
    # The condition of `drop_unneeded`.
    needed = sa.or_(further.exists(), sa.and_(content.sent, sa.not_(content.reads))).label("needed")
    newest = sa.func.coalesce(names.sha256 == pins.sha256, sa.false()).label("newest")
    found = (
        sa.select(rule_modules, content.reads, newest, needed)
        .join(module_contents, module_contents.c.sha256 == pins.sha256)
        .outerjoin(modules, same)
        .order_by(pins.rule, pins.tenant, pins.name)
    )
    made: dict[int, list[RuleModule]] = {}
    for row in connection.execute(found):
        version = ModuleVersion(row.name, row.sha256, row.reads)
        only_here = not (row.newest or row.needed)
        made.setdefault(row.rule, []).append(RuleModule(row.rule, row.tenant, version, row.newest, only_here))
    return made


def pin_versions(rule: Rule, known: Sequence[RuleModule]) -> Rule:
    """Return a rule, with aliases expanded, with the versions of its filters."""
    return replace(rule, actions=tuple(_pin_action(action, known) for action in rule.actions)) if known else rule


def newest_of(connection: sa.Connection, rule: Rule, groups: Groups) -> Sequence[RuleModule]:
    """Return the versions that a rule, with aliases expanded, would get if it were added now."""
    kinds = {action.kind for action in rule.actions if action.verb == "SET"}.difference(KINDS)
    there = versions(connection, kinds) if kinds else {}
    found = []
    for kind in sorted(kinds):
        # A shared one comes first, whatever tenants upload later.
        owners = [SHARED] if kind in there.get(SHARED, {}) else sorted(tenants_of(rule, groups))
        known = ((owner, there.get(owner, {}).get(kind)) for owner in owners)
        found += [RuleModule(rule.id, owner, version, newest=True) for owner, version in known if version is not None]
    return found


def pin(connection: sa.Connection, rules: Collection[Rule], groups: Groups, only: Named | None = None) -> None:
    """Let rules, with aliases expanded, run the newest versions of modules of which they run none so far. only: of this
    module.
    """
    known = read_rule_modules(connection)
    rows: list[dict[str, Any]] = []
    for rule in rules:
        there = {(module.tenant, module.kind) for module in known.get(rule.id, ())}
        shared = {kind for tenant, kind in there if tenant == SHARED}
        rows += [
            {"rule": rule.id, "tenant": module.tenant, "name": module.version.name, "sha256": module.version.sha256}
            for module in newest_of(connection, rule, groups)
            if only in (None, (module.tenant, module.version.name))
            and (module.tenant, module.kind) not in there
            and module.kind not in shared
            and not _displaces(module, there)
        ]
    if rows:
        connection.execute(insert(rule_modules).on_conflict_do_nothing(), rows)
        _in_use(connection)


def _in_use(connection: sa.Connection) -> None:
    """Record that versions in rules are not idle."""
    kept = module_versions.c
    run = sa.select(rule_modules.c.rule).where(
        rule_modules.c.tenant == kept.tenant, rule_modules.c.name == kept.name, rule_modules.c.sha256 == kept.sha256
    )
    connection.execute(sa.update(module_versions).where(run.exists()).values(idle_since_s=None))


def pin_again(connection: sa.Connection, rule: Rule, ran: Collection[Ran]) -> None:
    """Let a rule, with aliases expanded, run these versions of modules. Raises RequestRefusedError if one was
    removed.
    """
    if not ran:
        return
    kept = module_versions.c
    there = {
        tuple(row) for row in connection.execute(sa.select(kept.tenant, kept.name, kept.sha256)) if tuple(row) in ran
    }
    for tenant, name, sha256 in sorted(set(ran) - there):
        whose = f" of {tenant}" if tenant else ""
        raise RequestRefusedError(
            409,
            f"the rule ran version {sha256[:12]} of {name}{whose}, which was removed: upload that file again, or add "
            "the rule with the newest version (zoe storage policy add)",
        )
    rows = [{"rule": rule.id, "tenant": tenant, "name": name, "sha256": sha256} for tenant, name, sha256 in ran]
    connection.execute(insert(rule_modules), rows)
    _in_use(connection)


def tenants_of(rule: Rule, groups: Groups) -> set[str]:
    """Return the tenants whose modules a rule may set."""
    if rule.target.kind is TargetKind.GROUP:
        return {member.partition("/")[0] for member in groups.get(rule.target.tenant, ())}
    return {rule.target.tenant}


def _displaces(one: RuleModule, there: Collection[tuple[str, str]]) -> bool:
    """Return whether a shared module would take precedence over the tenant's module that the rule runs."""
    return one.tenant == SHARED and any(kind == one.kind for _, kind in there)


def _pin_action(action: Action, known: Sequence[RuleModule]) -> Action:
    if action.verb != "SET":
        return action
    return replace(
        action, versions=tuple((module.tenant, module.version) for module in known if module.kind == action.kind)
    )
