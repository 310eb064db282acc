"""Rules in both dialects of Crystal. A text has one rule a line; all of them are added, or none.

As in Crystal, a rule of the appendix dialect (`/registry`) overrides all filters of less specific targets, unless it
says REPLACES SAME.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from storage_controller.answers import RequestRefusedError, warning
from storage_controller.promises.promisable import Promisable
from storage_controller.routes.parameters import Author, Caller, PromisableDep, RulesDep
from storage_controller.rules.adding import keep_rules, parse_text, unenforced_filters_by
from storage_controller.rules.documents import document
from storage_controller.rules.rule_store import KeptRule, RuleLedger
from storage_filters.rules.rules import Rule, metrics_of

router = APIRouter()
_NAMED = "/{target:path}:{number}"
_STATIC, _DYNAMIC = ("/registry/static_policy", "/policies/static"), ("/registry/dynamic_policy", "/policies/dynamic")


async def _body(request: Request) -> bytes:
    return await request.body()


Body = Annotated[bytes, Depends(_body)]


@router.get(_STATIC[0])
@router.get(_STATIC[1])
def static_rules(rules: RulesDep) -> list[dict[str, Any]]:
    """List the rules without metrics."""
    return _rule_documents(rules, dynamic=False)


@router.get(_DYNAMIC[0])
@router.get(_DYNAMIC[1])
def dynamic_rules(rules: RulesDep) -> list[dict[str, Any]]:
    """List the rules with metrics."""
    return _rule_documents(rules, dynamic=True)


@router.post(_STATIC[0], status_code=201)
@router.post(_DYNAMIC[0], status_code=201)
def add_by_appendix(
    rules: RulesDep,
    promisable: PromisableDep,
    body: Body,
    response: Response,
    author: Author = None,
    caller: Caller = None,
) -> list[str]:
    """Add the rules of a text; the answer is their targets and numbers."""
    return _add(rules, promisable, parse_text(body, caller, appendix=True), author, response)


@router.post(_STATIC[1], status_code=201)
@router.post(_DYNAMIC[1], status_code=201)
def add(
    rules: RulesDep,
    promisable: PromisableDep,
    body: Body,
    response: Response,
    author: Author = None,
    caller: Caller = None,
) -> list[str]:
    """Add the rules of a text; the answer is their targets and numbers."""
    return _add(rules, promisable, parse_text(body, caller), author, response)


@router.get(_STATIC[0] + _NAMED)
@router.get(_STATIC[1] + _NAMED)
@router.get(_DYNAMIC[0] + _NAMED)
@router.get(_DYNAMIC[1] + _NAMED)
def show_rule_of_target(rules: RulesDep, target: str, number: int) -> dict[str, Any]:
    """Show a rule."""
    return {**document(_rule_numbered(rules, target, number), unenforced_filters_by(rules)), "id": f"{target}:{number}"}


@router.put(_STATIC[0] + _NAMED)
@router.put(_DYNAMIC[0] + _NAMED)
def change_by_appendix(
    rules: RulesDep,
    promisable: PromisableDep,
    target: str,
    number: int,
    body: Body,
    response: Response,
    author: Author = None,
    caller: Caller = None,
) -> str:
    """Replace a rule by one of another text; the history keeps the old rule."""
    return _replace(rules, promisable, (target, number), parse_text(body, caller, appendix=True), author, response)


@router.put(_STATIC[1] + _NAMED)
@router.put(_DYNAMIC[1] + _NAMED)
def change(
    rules: RulesDep,
    promisable: PromisableDep,
    target: str,
    number: int,
    body: Body,
    response: Response,
    author: Author = None,
    caller: Caller = None,
) -> str:
    """Replace a rule by one of another text; the history keeps the old rule."""
    return _replace(rules, promisable, (target, number), parse_text(body, caller), author, response)


@router.delete(_STATIC[0] + _NAMED, status_code=204)
@router.delete(_STATIC[1] + _NAMED, status_code=204)
@router.delete(_DYNAMIC[0] + _NAMED, status_code=204)
@router.delete(_DYNAMIC[1] + _NAMED, status_code=204)
def remove(rules: RulesDep, target: str, number: int, author: Author = None) -> Response:
    """Remove a rule of a target, if it exists."""
    rules.remove(number, author, target)
    return Response(status_code=204)


@router.delete(_DYNAMIC[0] + "/{number}", status_code=204)
@router.delete(_DYNAMIC[1] + "/{number}", status_code=204)
def remove_by_number(rules: RulesDep, number: int, author: Author = None) -> Response:
    """Remove a rule, if it exists."""
    rules.remove(number, author)
    return Response(status_code=204)


def _rule_documents(rules: RuleLedger, dynamic: bool) -> list[dict[str, Any]]:
    idle = unenforced_filters_by(rules)
    return [
        {**document(rule, idle), "id": f"{rule.target}:{rule.id}"}
        for rule in rules.rules()
        if (rule.rule is not None and bool(metrics_of(rule.rule))) == dynamic
    ]


def _add(
    rules: RuleLedger, promisable: Promisable, wanted: list[Rule], author: str | None, response: Response
) -> list[str]:
    added = keep_rules(rules, promisable, wanted, author)
    response.headers.update(warning(added.caveats))
    return [f"{rule.target}:{number}" for rule, number in zip(wanted, added.ids, strict=True)]


def _replace(
    rules: RuleLedger,
    promisable: Promisable,
    named: tuple[str, int],
    wanted: list[Rule],
    author: str | None,
    response: Response,
) -> str:
    target, number = named
    before = _rule_numbered(rules, target, number)
    [rule, *more] = wanted
    if more:
        raise RequestRefusedError(400, "give exactly one rule to replace a rule")
    added = keep_rules(rules, promisable, [rule], author, before.mode)
    response.headers.update(warning(added.caveats))
    rules.remove(number, author, target)
    return f"{rule.target}:{added.ids[0]}"


def _rule_numbered(rules: RuleLedger, target: str, number: int) -> KeptRule:
    found = next((rule for rule in rules.rules() if (rule.target, rule.id) == (target, number)), None)
    if found is None:
        raise RequestRefusedError(404, f"rule {target}:{number} does not exist")
    return found
