"""Rules in both dialects of Crystal. A text has several rules; all of them are added, or none.

As in Crystal, a rule of the appendix dialect (`/registry`) overrides all filters of less specific targets, unless it
says REPLACES SAME, and a rule with a mistake is answered with 401.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ValidationError

from storage_controller.answers import RequestRefusedError, warning
from storage_controller.crystal.groups import Groups, GroupsDep
from storage_controller.crystal.metrics.names import ensure_measured, translate
from storage_controller.crystal.projects import disabled_project, not_enabled
from storage_controller.crystal.rule_documents import (
    RuleChange,
    RuleForm,
    changed,
    dynamic_document,
    names_of,
    static_document,
)
from storage_controller.database.controller_ledger import rule_controller
from storage_controller.database.supervision import Mode
from storage_controller.metrics.added import AddedMetrics
from storage_controller.promises.promisable import Promisable
from storage_controller.routes.parameters import (
    Author,
    Caller,
    LedgerDep,
    MetricsDep,
    PromisableDep,
    RulesDep,
    ServicesDep,
)
from storage_controller.rules.adding import expand_rules, keep_rules, parse_text, unenforced_filters_by
from storage_controller.rules.rule_store import KeptRule, RuleLedger
from storage_filters.rules.rules import Rule, Target, TargetKind, metrics_of
from zoe_client.words.plain_errors import sentences

router = APIRouter()
_NAMED = "/{target:path}:{number}"
_STATIC, _DYNAMIC = ("/registry/static_policy", "/policies/static"), ("/registry/dynamic_policy", "/policies/dynamic")


async def _body(request: Request) -> bytes:
    return await request.body()


Body = Annotated[bytes, Depends(_body)]


@dataclass(frozen=True, slots=True)
class NewRules:
    """Adds the rules of a request. author: of the rules; caller: the tenant of targets without one."""

    rules: RuleLedger
    groups: Groups
    metrics: AddedMetrics
    promisable: Promisable
    enabled: Callable[[], Collection[str]]
    author: str | None
    caller: str | None

    def parse(self, body: bytes, appendix: bool) -> list[Rule]:
        """Return the rules of a text, in Zoe's words. Raises RequestRefusedError: 401 for a mistake."""
        with _mistakes_as_401():
            return self.understand(parse_text(body, self.caller, appendix=appendix), appendix)

    def understand(self, wanted: list[Rule], appendix: bool) -> list[Rule]:
        """Return rules in Zoe's words, after adding the metrics that they need. Raises RequestRefusedError."""
        found = [self._with_group_name(rule) for rule in translate(wanted)]
        ensure_measured(found, self.metrics, self.author)
        missing = None if appendix else disabled_project(found, self.enabled())
        if missing is not None:
            expand_rules(self.rules, found)
            raise RequestRefusedError(404, not_enabled(missing))
        return found

    def keep(self, wanted: list[Rule], response: Response, mode: Mode = Mode.ON) -> list[str]:
        """Store rules; return their targets and numbers. Raises RequestRefusedError: 401 for a mistake."""
        with _mistakes_as_401():
            added = keep_rules(self.rules, self.promisable, wanted, self.author, mode)
        response.headers.update(warning(added.caveats))
        return [f"{rule.target}:{number}" for rule, number in zip(wanted, added.ids, strict=True)]

    def _with_group_name(self, rule: Rule) -> Rule:
        if rule.target.kind is not TargetKind.GROUP or rule.target.tenant in self.groups.all():
            return rule
        named = {number: name for name, number in self.groups.numbers().items()}
        name = named.get(rule.target.tenant, rule.target.tenant)
        return replace(rule, target=Target(TargetKind.GROUP, name))


@contextmanager
def _mistakes_as_401() -> Iterator[None]:
    """Answer a rule with a mistake as Crystal does."""
    try:
        yield
    except RequestRefusedError as error:
        raise RequestRefusedError(401 if error.status == 400 else error.status, error.sentence) from None


async def _new_rules(
    rules: RulesDep,
    groups: GroupsDep,
    metrics: MetricsDep,
    promisable: PromisableDep,
    ledger: LedgerDep,
    author: Author = None,
    caller: Caller = None,
) -> NewRules:
    return NewRules(rules, groups, metrics, promisable, ledger.project_names, author, caller)


NewRulesDep = Annotated[NewRules, Depends(_new_rules)]


@router.get(_STATIC[0])
@router.get(_STATIC[1])
def static_rules(rules: RulesDep) -> list[dict[str, Any]]:
    """List the rules without metrics."""
    idle = unenforced_filters_by(rules)
    return [static_document(rule, idle) for rule in rules.rules() if not _is_dynamic(rule)]


@router.get(_DYNAMIC[0])
@router.get(_DYNAMIC[1])
def dynamic_rules(rules: RulesDep) -> list[dict[str, Any]]:
    """List the rules with metrics."""
    idle = unenforced_filters_by(rules)
    return [dynamic_document(rule, idle) for rule in rules.rules() if _is_dynamic(rule)]


@router.post(_STATIC[0], status_code=201)
@router.post(_DYNAMIC[0], status_code=201)
def add_by_appendix(new: NewRulesDep, body: Body, response: Response) -> list[str]:
    """Add the rules of a text; the answer is their targets and numbers."""
    return new.keep(new.parse(body, appendix=True), response)


@router.post(_STATIC[1], status_code=201)
@router.post(_DYNAMIC[1], status_code=201)
def add(new: NewRulesDep, body: Body, response: Response) -> list[str]:
    """Add the rules of a text; the answer is their targets and numbers."""
    return new.keep(new.parse(body, appendix=False), response)


@router.put(_STATIC[1], status_code=201)
@router.put(_DYNAMIC[1], status_code=201)
def add_by_form(new: NewRulesDep, form: RuleForm, response: Response) -> str:
    """Add a rule by the fields of a form; the answer is its target and number."""
    return new.keep(new.understand([form.rule()], appendix=False), response)[0]


@router.get(_STATIC[0] + _NAMED)
@router.get(_STATIC[1] + _NAMED)
@router.get(_DYNAMIC[0] + _NAMED)
@router.get(_DYNAMIC[1] + _NAMED)
def show_rule_of_target(rules: RulesDep, target: str, number: int) -> dict[str, Any]:
    """Show a rule."""
    return static_document(_rule_numbered(rules, target, number), unenforced_filters_by(rules))


@router.put(_STATIC[0] + _NAMED)
@router.put(_DYNAMIC[0] + _NAMED)
def change_by_appendix(new: NewRulesDep, target: str, number: int, body: Body, response: Response) -> str:
    """Change fields of a rule, or replace it by one of another text; the history keeps the old rule."""
    return _change(new, (target, number), body, response, appendix=True)


@router.put(_STATIC[1] + _NAMED)
@router.put(_DYNAMIC[1] + _NAMED)
def change(new: NewRulesDep, target: str, number: int, body: Body, response: Response) -> str:
    """Change fields of a rule, or replace it by one of another text; the history keeps the old rule."""
    return _change(new, (target, number), body, response, appendix=False)


class Status(BaseModel):
    """Whether a rule with a metric is judged, in Crystal's words."""

    status: Literal["Alive", "Running", "Stopped"]


@router.put(_DYNAMIC[1] + "/{number:int}", status_code=201)
def switch(services: ServicesDep, number: int, given: Status) -> str:
    """Stop or start a rule with a metric."""
    services.controllers.set_mode(rule_controller(number), Mode.OFF if given.status == "Stopped" else Mode.ON)
    return given.status


@router.delete(_STATIC[0] + _NAMED, status_code=204)
@router.delete(_STATIC[1] + _NAMED, status_code=204)
@router.delete(_DYNAMIC[0] + _NAMED, status_code=204)
@router.delete(_DYNAMIC[1] + _NAMED, status_code=204)
def remove(rules: RulesDep, target: str, number: int, author: Author = None) -> Response:
    """Remove a rule of a target, if it exists."""
    for one in rules.rules():
        if one.id == number and target in names_of(one):
            rules.remove(number, author)
    return Response(status_code=204)


@router.delete(_DYNAMIC[0] + "/{number}", status_code=204)
@router.delete(_DYNAMIC[1] + "/{number}", status_code=204)
def remove_by_number(rules: RulesDep, number: int, author: Author = None) -> Response:
    """Remove a rule, if it exists."""
    rules.remove(number, author)
    return Response(status_code=204)


def _is_dynamic(one: KeptRule) -> bool:
    return one.rule is not None and bool(metrics_of(one.rule))


def _change(new: NewRules, named: tuple[str, int], body: bytes, response: Response, appendix: bool) -> str:
    before = _rule_numbered(new.rules, *named)
    if body.lstrip().startswith(b"{"):
        response.status_code = 201
        return _change_fields(new, before, body, response)
    [rule, *more] = new.parse(body, appendix)
    if more:
        raise RequestRefusedError(400, "give exactly one rule to replace a rule")
    [made] = new.keep([rule], response, before.mode)
    new.rules.remove(before.id, new.author)
    return made


def _change_fields(new: NewRules, before: KeptRule, body: bytes, response: Response) -> str:
    if before.rule is None:
        raise RequestRefusedError(409, f"this version does not understand rule {before.id}: remove it")
    try:
        given = RuleChange.model_validate(json.loads(body))
    except (ValueError, RecursionError) as error:
        told = "; ".join(sentences(error)) if isinstance(error, ValidationError) else "the body is not valid JSON"
        raise RequestRefusedError(400, told) from None
    rule, said = changed(before.rule, given)
    expand_rules(new.rules, [rule])
    new.rules.change(before.id, rule, new.author)
    response.headers.update(warning(said))
    return f"{before.target}:{before.id}"


def _rule_numbered(rules: RuleLedger, target: str, number: int) -> KeptRule:
    found = next((rule for rule in rules.rules() if rule.id == number and target in names_of(rule)), None)
    if found is None:
        raise RequestRefusedError(404, f"rule {target}:{number} does not exist")
    return found
