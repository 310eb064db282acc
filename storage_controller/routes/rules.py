"""Rules under `/v1/rules`, with their authors, dry runs and explanations.

A rule of this dialect overrides filters of the same kinds. A text has several rules; all are added, or none.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, replace
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import StringConstraints

from storage_controller.answers import RequestRefusedError, warning
from storage_controller.database.supervision import Mode
from storage_controller.routes.parameters import Author, PromisableDep, RulesDep, ServicesDep
from storage_controller.rules.adding import (
    TRIAL_STEPS_MAX,
    expand_rules,
    keep_rules,
    move_rule,
    parse_text,
    restore,
    unenforced_filters_by,
)
from storage_controller.rules.checks import guaranteed_rates
from storage_controller.rules.documents import rule_view
from storage_controller.rules.rule_store import RuleLedger
from storage_controller.rules.verdicts import verdicts_on
from storage_filters.wsgi.object_requests import ObjectRequest
from zoe_client.wire.storage.rules import (
    StorageHourView,
    StorageRuleMove,
    StorageRuleMoved,
    StorageRuleRequest,
    StorageRuleTry,
    StorageRuleTryView,
    StorageRuleView,
    StorageWhyView,
)

Name = Annotated[str, StringConstraints(min_length=1, max_length=1024, pattern=r"^[^\x00]*$")]


class RuleToTry(StorageRuleTry):
    """Rules to try beside the present ones; without any, the result of the present ones."""

    tenant: Name


router = APIRouter(prefix="/v1/rules")


@router.get("")
def list_rules(rules: RulesDep, services: ServicesDep, removed: bool = False) -> list[StorageRuleView]:
    """List the rules in force, or the removed ones."""
    idle, of_rules = unenforced_filters_by(rules), rules.rule_modules()
    metrics = {} if removed else services.reports.metrics()
    found = rules.history() if removed else rules.rules()
    return [rule_view(rule, idle, of_rules.get(rule.id, ()), metrics.get(rule.id, {})) for rule in found]


@router.post("", status_code=201)
def add(
    rules: RulesDep, promisable: PromisableDep, wanted: StorageRuleRequest, response: Response, author: Author = None
) -> list[StorageRuleView]:
    """Add the rules of a text."""
    mode = Mode.DRY if wanted.dry_run else Mode.ON
    added = keep_rules(
        rules, promisable, parse_text(wanted.text.encode(), wanted.tenant or None), author, mode, twins=False
    )
    response.headers.update(warning(added.caveats))
    return _rule_views(rules, added.ids)


@router.put("/{number}/modules/{name}")
def move(rules: RulesDep, number: int, name: Name, wanted: StorageRuleMove) -> StorageRuleMoved:
    """Let a rule run another version of a module."""
    was = sorted({module.version.sha256 for module in move_rule(rules, number, name, wanted.sha256)})
    [moved] = _rule_views(rules, [number])
    return StorageRuleMoved(**moved.model_dump(), was=was)


@router.post("/{number}/again", status_code=201)
def restore_rule(
    rules: RulesDep, promisable: PromisableDep, number: int, response: Response, author: Author = None
) -> StorageRuleView:
    """Add a removed rule under a new number, with the versions of modules that it ran."""
    added = restore(rules, promisable, number, author)
    response.headers.update(warning(added.caveats))
    [made] = _rule_views(rules, added.ids)
    return made


@router.delete("/{number}", status_code=204)
def remove(rules: RulesDep, number: int, author: Author = None) -> Response:
    """Remove a rule."""
    if not rules.remove(number, author):
        raise RequestRefusedError(404, f"rule {number} does not exist")
    return Response(status_code=204)


@router.post("/try")
def try_rules(rules: RulesDep, services: ServicesDep, wanted: RuleToTry) -> StorageRuleTryView:
    """Return the effect of further rules on an object, and the present effect."""
    request = ObjectRequest(wanted.tenant, wanted.container, wanted.object, wanted.size, frozenset(wanted.tags))
    book = replace(rules.book(), metrics=services.reports.metrics())
    text = wanted.text.encode()
    more = parse_text(text, wanted.tenant, steps_max=TRIAL_STEPS_MAX) if text.strip() else []
    for rule in more:
        guaranteed_rates(rule)
    more = expand_rules(rules, more)
    beside = replace(book, rules=(*book.rules, *rules.as_if_added(more)))
    idle, hosted = unenforced_filters_by(rules), rules.hosted()
    now, then = (verdicts_on(entry, request, idle, hosted) for entry in (book, beside))
    hour = services.reports.traffic.under(more, book.groups, wanted.tenant) if more else None
    return StorageRuleTryView(now=now, then=then, last_hour=StorageHourView(**asdict(hour)) if hour else None)


@router.get("/why", response_model_exclude_unset=True)
def explain_object(
    rules: RulesDep,
    services: ServicesDep,
    tenant: Annotated[Name, Query()],
    container: Annotated[Name, Query()],
    name: Annotated[Name, Query(alias="object")],
) -> StorageWhyView:
    """Return the filters of a stored object, and the effect of the present rules."""
    found = services.stored_object(tenant, container, name)
    if found is None:
        raise RequestRefusedError(404, f"object {tenant}/{container}/{name} does not exist")
    request = ObjectRequest(tenant, container, name, found.size, frozenset(found.tags))
    book = replace(rules.book(), metrics=services.reports.metrics())
    return StorageWhyView(
        done=list(found.filters), now=verdicts_on(book, request, unenforced_filters_by(rules), rules.hosted())
    )


def _rule_views(rules: RuleLedger, ids: Collection[int]) -> list[StorageRuleView]:
    """Return the rules in force with these numbers."""
    idle, of_rules = unenforced_filters_by(rules), rules.rule_modules()
    return [rule_view(rule, idle, of_rules.get(rule.id, ()), {}) for rule in rules.rules() if rule.id in ids]
