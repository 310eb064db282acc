"""Documents of rules for both interfaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from storage_controller.database.supervision import Mode
from storage_controller.rules.rule_modules import RuleModule
from storage_controller.rules.rule_store import KeptRule
from storage_controller.rules.verdicts import Idle
from storage_filters.rules.documents import action_document
from zoe_client.wire.storage.rules import StorageRuleModuleView, StorageRuleView


def document(one: KeptRule, idle: Idle) -> dict[str, Any]:
    """Return a rule with its text as `rule`, its actions, and whether it is enforced."""
    found = asdict(one)
    text = found.pop("text")
    actions = one.rule.actions if one.rule is not None else ()
    return {
        **found,
        "rule": text,
        "enforced": _is_enforced(one, idle),
        "actions": [action_document(a) for a in actions],
    }


def rule_view(
    one: KeptRule, idle: Idle, modules: Sequence[RuleModule], metrics: Mapping[str, float]
) -> StorageRuleView:
    """Return a rule with the versions of modules that it runs, and the values of its metrics."""
    return StorageRuleView(
        id=one.id,
        target=one.target,
        rule=one.text,
        enforced=_is_enforced(one, idle),
        author=one.author,
        created_s=one.created_s,
        removed_by=one.removed_by,
        removed_s=one.removed_s,
        mode=one.mode.value,
        metrics=dict(metrics),
        modules=[_module_view(each) for each in modules],
    )


def _module_view(one: RuleModule) -> StorageRuleModuleView:
    return StorageRuleModuleView(
        name=one.version.name,
        tenant=one.tenant or None,
        sha256=one.version.sha256,
        newest=one.newest,
        only_here=one.only_here,
    )


def _is_enforced(one: KeptRule, idle: Idle) -> bool:
    return one.rule is not None and one.mode is Mode.ON and not idle(one.rule)
