"""Rules as Crystal's lists show them, beside Zoe's own fields; and changes of a rule by these fields."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from storage_controller.answers import RequestRefusedError
from storage_controller.crystal.filters import parameters, restrictions, size_text
from storage_controller.database.supervision import Mode
from storage_controller.rules.documents import document
from storage_controller.rules.dsl import RuleError, condition_text, parse_rule, show_rule
from storage_controller.rules.rule_store import KeptRule
from storage_controller.rules.verdicts import Idle
from storage_filters.rules.rules import BANDWIDTH, Action, Rule, Target, TargetKind

_SIZE = Annotated[str | None, BeforeValidator(size_text)]


class RuleChange(BaseModel):
    """Changeable fields of a rule without metrics; others are refused, since they would have no effect."""

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    execution_server: Literal["proxy", "object"] | None = None
    params: str | dict[str, Any] | None = None
    object_type: str | None = None
    object_size: _SIZE = None
    object_tag: str | None = None
    reverse: Any = None
    execution_server_reverse: Any = None
    execution_order: Any = None
    callable: Any = None


class RuleForm(BaseModel):
    """A rule with a metric, in the fields of Crystal's form."""

    action: Literal["SET", "DELETE"] = "SET"
    project_id: str
    container_id: str | None = None
    transient: bool = False
    filter_id: str
    params: str | dict[str, Any] | None = None
    workload_metric: str
    condition: str
    object_type: str | None = None
    object_size: _SIZE = None
    object_tag: str | None = None

    def rule(self) -> Rule:
        """Return the rule. Raises RequestRefusedError."""
        target = Target(TargetKind.TENANT, self.project_id)
        if self.container_id:
            target = Target(TargetKind.CONTAINER, self.project_id, self.container_id)
        only = restrictions(self.object_type, self.object_size, self.object_tag)
        given = parameters(self.params)
        duration = "TRANSIENT" if self.transient else None
        action = Action(self.action, self.filter_id, given, duration=duration, only=only)
        try:
            when = parse_rule(f"FOR TENANT:t WHEN {self.workload_metric} {self.condition} DO SET NOOP").condition
            return parse_rule(show_rule(Rule(target, when, (action,))))  # the stored rule is the text
        except RuleError as error:
            raise RequestRefusedError(400, f"this is not a rule: {error}") from None


_IGNORED = {"reverse": None, "execution_server_reverse": None, "execution_order": None, "callable": None}


def changed(rule: Rule, given: RuleChange) -> tuple[Rule, list[str]]:
    """Return a rule with other fields, and sentences on those without effect. Raises RequestRefusedError."""
    if any(action.kind == BANDWIDTH for action in rule.actions):
        raise RequestRefusedError(409, "a guarantee of bandwidth has no such fields: remove the rule and add another")
    fields = given.model_fields_set
    action_changes: dict[str, Any] = {}
    if given.execution_server is not None:
        action_changes["server"] = given.execution_server.upper()
    if "params" in fields:
        action_changes["parameters"] = parameters(given.params)
    if fields & {"object_type", "object_size", "object_tag"}:
        action_changes["only"] = restrictions(given.object_type, given.object_size, given.object_tag)
    made = replace(rule, actions=tuple(replace(action, **action_changes) for action in rule.actions))
    ignored = sorted(fields & _IGNORED.keys())
    said = [f"without effect: {', '.join(ignored)}; filters run in the order of their rules, and back when read"]
    try:
        return parse_rule(show_rule(made)), said if ignored else []
    except RuleError as error:
        raise RequestRefusedError(400, f"this is not a rule: {error}") from None


def names_of(one: KeptRule) -> set[str]:
    """Return the ways in which clients name a rule's target: Zoe's, Crystal's, and both joined by a client."""
    if one.rule is None:
        return {one.target}
    name = one.rule.target.name
    colons = name.replace("/", ":")
    return {one.target, name, colons, f"{colons}:{one.target}"}


def static_document(one: KeptRule, idle: Idle) -> dict[str, Any]:
    """Return a rule without metrics."""
    action = one.rule.actions[0] if one.rule is not None else None
    own = {**document(one, idle), "id": f"{one.target}:{one.id}"}
    if one.rule is None or action is None:
        return own
    return {
        "target_id": one.rule.target.name.replace("/", ":"),
        "target_name": one.rule.target.name,
        "filter_name": action.filter,
        **_restriction_fields(action),
        "execution_server": (action.server or "PROXY").lower(),
        "execution_order": one.id,
        "params": ",".join(f"{name}={value}" for name, value in action.parameters),
        "callable": action.callable,
        **own,
    }


def dynamic_document(one: KeptRule, idle: Idle) -> dict[str, Any]:
    """Return a rule with metrics."""
    found = static_document(one, idle)
    if one.rule is None or one.rule.condition is None:
        return found
    action = one.rule.actions[0]
    return {
        "filter": action.filter,
        "parameters": found["params"],
        "action": action.verb,
        "condition": condition_text(one.rule.condition),
        "transient": action.duration == "TRANSIENT",
        "status": "Alive" if one.mode is Mode.ON else "Stopped",
        **found,
    }


def _restriction_fields(action: Action) -> dict[str, Any]:
    found: dict[str, Any] = {"object_type": "", "object_size": "", "object_tag": ""}
    for term in action.only:
        name = term.name.lower()
        found[name] = [str(term.operator), term.value] if name == "object_size" else term.value
    return found
