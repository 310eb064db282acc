"""Rules as documents of both interfaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from storage_controller.database.supervision import Mode
from storage_controller.rules.ledger import KeptRule
from storage_controller.rules.rule_modules import RuleModule
from storage_controller.rules.verdicts import Idle
from storage_filters.rules.documents import action_document


def document(one: KeptRule, idle: Idle) -> dict[str, Any]:
    """Return a rule with its text as `rule`, its actions, and whether it is enforced."""
    found = asdict(one)
    text = found.pop("text")
    actions = one.rule.actions if one.rule is not None else ()
    enforced = one.rule is not None and one.mode is Mode.ON and not idle(one.rule)
    return {**found, "rule": text, "enforced": enforced, "actions": [action_document(a) for a in actions]}


def modules_document(of_rule: Sequence[RuleModule]) -> list[Mapping[str, Any]]:
    """Return the versions of modules that a rule runs."""
    return [
        {
            "name": one.version.name,
            "tenant": one.tenant or None,
            "sha256": one.version.sha256,
            "newest": one.newest,
            "only_here": one.only_here,
        }
        for one in of_rule
    ]
