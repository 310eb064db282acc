"""Object types that rules name, registered at run time through either API of Crystal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field, StringConstraints

from storage_controller.answers import RequestRefusedError
from storage_controller.routes.parameters import RulesDep
from storage_controller.rules.rule_store import RuleLedger
from storage_filters.rules.rules import OBJECT_TYPE, Rule, comparisons

_ENDINGS_MAX = 200
_INSTALLED = {
    "DOCS": frozenset(
        "csv doc docx htm html json log md odp ods odt pdf ppt pptx rtf txt xls xlsx xml".split()  # noqa: SIM905
    )
}
"""Object types of a new installation, which a client may create with other endings as if they were not there."""
Word = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[^\s\x00/:\"]+$")]
Ending = Annotated[str, StringConstraints(min_length=1, max_length=32, pattern=r"^\.?[^\s\x00./]+$")]
Endings = Annotated[list[Ending], Field(min_length=1, max_length=_ENDINGS_MAX)]


class ObjectType(BaseModel):
    """An object type: endings of names."""

    name: Word
    types_list: Endings


router = APIRouter()


@router.get("/registry/object_type")
@router.get("/policies/object_type")
def object_types(rules: RulesDep) -> list[dict[str, Any]]:
    """List all object types with their endings."""
    return [{"name": name, "types_list": list(endings)} for name, endings in rules.object_types().items()]


@router.post("/registry/object_type", status_code=201)
@router.post("/policies/object_type", status_code=201)
def add_object_type(rules: RulesDep, given: ObjectType) -> dict[str, Any]:
    """Create an object type."""
    there = rules.object_types().get(given.name)
    if there is not None and frozenset(there) != _INSTALLED.get(given.name):
        raise RequestRefusedError(400, f"object type {given.name} already exists")
    rules.keep_object_type(given.name, _plain(given.types_list))
    return {"name": given.name, "types_list": sorted(set(_plain(given.types_list)))}


@router.get("/registry/object_type/{name}")
@router.get("/policies/object_type/{name}")
def endings(rules: RulesDep, name: str) -> dict[str, Any]:
    """Show the endings of an object type."""
    return {"name": name, "types_list": list(_endings(rules, name))}


@router.put("/registry/object_type/{name}", status_code=201)
@router.put("/policies/object_type/{name}", status_code=201)
def set_endings(rules: RulesDep, name: str, endings: Endings) -> dict[str, Any]:
    """Replace the endings of an object type."""
    _endings(rules, name)
    rules.keep_object_type(name, _plain(endings))
    return {"name": name, "types_list": sorted(set(_plain(endings)))}


@router.delete("/registry/object_type/{name}")
@router.delete("/policies/object_type/{name}")
def remove_object_type(rules: RulesDep, name: str) -> int:
    """Remove an object type that no rule uses; the answer is how many were removed."""
    _endings(rules, name)
    refuse_used(rules, name, lambda rule: name.upper() in _types_of(rule))
    rules.drop_object_type(name)
    return 1


def _plain(endings: Endings) -> list[str]:
    return [ending.lower().removeprefix(".") for ending in endings]


def _types_of(rule: Rule) -> set[str]:
    terms = (*comparisons(rule.condition), *(term for action in rule.actions for term in action.only))
    return {term.value.upper() for term in terms if term.name.upper() == OBJECT_TYPE}


def refuse_used(rules: RuleLedger, name: str, uses: Callable[[Rule], bool]) -> None:
    """Refuse (409) to remove a name that a rule uses."""
    if used := next((rule for rule in rules.rules() if rule.rule is not None and uses(rule.rule)), None):
        raise RequestRefusedError(409, f"rule {used.id} uses {name}: remove it first")


def _endings(rules: RuleLedger, name: str) -> list[str]:
    found = rules.object_types().get(name)
    if found is None:
        raise RequestRefusedError(404, f"object type {name} does not exist")
    return list(found)
