"""Aliases of filters for rules, under `/registry/filters`: `COMPRESSION` with a TYPE, or a custom name.

The appendix dialect calls the filter `identifier`; other fields are stored unchanged. An alias with the name of its
filter gives that filter default parameters.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Body, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from storage_controller.answers import RequestRefusedError, warning
from storage_controller.database.guarantee_store import Ledger
from storage_controller.routes.parameters import LedgerDep, RulesDep
from storage_controller.rules.checks import check
from storage_controller.rules.rule_store import RuleLedger
from storage_controller.rules.uploading import RESERVED
from storage_controller.rules.words import FilterWord
from storage_filters.rules.rules import BANDWIDTH, Action, Rule, Target, TargetKind
from zoe_client.words.plain_errors import sentences

PATH = "/registry/filters"
_ATTRIBUTES_BYTES_MAX = 16 * 1024
FilterName = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^\w[\w-]*$")]
Value = Annotated[str, StringConstraints(max_length=256, pattern=r'^[^\x00"\n]*$')]


class NewWord(BaseModel):
    """An alias; without an identifier, it stands for the filter of the same name."""

    model_config = ConfigDict(extra="allow", coerce_numbers_to_str=True)

    name: FilterName
    identifier: FilterName | None = None
    parameters: Annotated[dict[FilterName, Value], Field(max_length=20)] = {}


router = APIRouter()


@router.get(PATH)
def list_words(rules: RulesDep) -> list[dict[str, Any]]:
    """List all aliases."""
    return [_document(word) for word in rules.words().values()]


@router.post(PATH, status_code=201)
def create(rules: RulesDep, ledger: LedgerDep, given: NewWord, response: Response) -> dict[str, Any]:
    """Create an alias."""
    word, said = _own_instead(_word(given), ledger)
    _check(word, rules)
    rules.keep_word(word, new=True)
    response.headers.update(warning(said))
    return _document(word)


@router.get(PATH + "/{name}")
def show_word(rules: RulesDep, name: str) -> dict[str, Any]:
    """Show an alias."""
    return _document(_word_named(rules, name))


@router.put(PATH + "/{name}", status_code=201)
def change(
    rules: RulesDep, ledger: LedgerDep, name: str, given: Annotated[dict[str, Any], Body()], response: Response
) -> dict[str, Any]:
    """Change fields of an alias."""
    before = _word_named(rules, name)
    try:
        word = _word(NewWord.model_validate({**_document(before), **given, "name": before.name}))
        word, said = _own_instead(word, ledger)
    except ValidationError as error:
        raise RequestRefusedError(400, "; ".join(sentences(error))) from None
    _check(word, rules)
    rules.keep_word(word, new=False)
    response.headers.update(warning(said))
    return _document(word)


@router.delete(PATH + "/{name}", status_code=204)
def delete(rules: RulesDep, name: str) -> Response:
    """Remove an alias that no rule uses."""
    if used := next((rule.id for rule in rules.rules() if _names(rule.rule, name)), None):
        raise RequestRefusedError(409, f"rule {used} uses {name}: remove it first")
    rules.drop_word(name.upper())
    return Response(status_code=204)


def _word(given: NewWord) -> FilterWord:
    attributes = given.model_extra or {}
    if len(json.dumps(attributes)) > _ATTRIBUTES_BYTES_MAX:
        raise RequestRefusedError(
            400, f"{given.name}: its fields, names and values together, take more than {_ATTRIBUTES_BYTES_MAX} bytes"
        )
    return FilterWord(given.name.upper(), (given.identifier or given.name).upper(), given.parameters, attributes)


def _own_instead(word: FilterWord, ledger: Ledger) -> tuple[FilterWord, list[str]]:
    """Return a word with Zoe's filter of its name, if it stands for an uploaded program, and a sentence on that."""
    programs = {one["dsl_name"].upper() for one in ledger.filters() if "filter_type" in one}
    if word.name not in RESERVED or word.filter == word.name or word.filter not in programs:
        return word, []
    return replace(word, filter=word.name), [f"{word.name} is Zoe's own filter, not the program {word.filter}"]


def _check(word: FilterWord, rules: RuleLedger) -> None:
    """Refuse an alias with the name of another filter, or with parameters that its filter does not have."""
    if word.name in RESERVED and word.name != word.filter:
        raise RequestRefusedError(
            409, f"{word.name} is the name of another filter than {word.filter}: use another name"
        )
    if word.filter == BANDWIDTH:
        raise RequestRefusedError(400, "BANDWIDTH cannot have aliases")
    if word.filter != word.name and word.filter in rules.words():
        raise RequestRefusedError(409, f"{word.filter} is an alias itself; name a filter")
    action = Action("SET", word.filter, tuple(word.parameters.items()))
    check(Rule(Target(TargetKind.TENANT, "any"), None, (action,)), (), ())


def _names(rule: Rule | None, name: str) -> bool:
    return rule is not None and any(action.kind == name.upper() for action in rule.actions)


def _word_named(rules: RuleLedger, name: str) -> FilterWord:
    if (found := rules.words().get(name.upper())) is None:
        raise RequestRefusedError(404, f"filter word {name} does not exist")
    return found


def _document(word: FilterWord) -> dict[str, Any]:
    parameters: Mapping[str, str] = word.parameters
    return {**word.attributes, "name": word.name, "identifier": word.filter, "parameters": dict(parameters)}
