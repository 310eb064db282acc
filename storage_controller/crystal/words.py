"""Groups and object types that rules name, registered at run time through either API of Crystal."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import AliasChoices, BaseModel, Field, StringConstraints

from storage_controller.answers import RequestRefusedError
from storage_controller.routes.parameters import RulesDep
from storage_controller.rules.rule_store import RuleLedger
from storage_filters.rules.rules import OBJECT_TYPE, Rule, TargetKind, comparisons

_MEMBERS_MAX = 1000
_ENDINGS_MAX = 200
Word = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[^\s\x00/:\"]+$")]
Member = Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=r"^[^\s\x00/]+(/[^\x00/]+)?$")]
Ending = Annotated[str, StringConstraints(min_length=1, max_length=32, pattern=r"^\.?[^\s\x00./]+$")]
Members = Annotated[list[Member], Field(max_length=_MEMBERS_MAX)]
Endings = Annotated[list[Ending], Field(min_length=1, max_length=_ENDINGS_MAX)]


class Group(BaseModel):
    """A group with its name; without a name, the controller chooses one, as the appendix dialect expects."""

    name: Word | None = None
    members: Members = Field(validation_alias=AliasChoices("members", "attached_projects"))


class ObjectType(BaseModel):
    """An object type: endings of names."""

    name: Word
    types_list: Endings


router = APIRouter()


@router.get("/registry/gtenants")
@router.get("/registry/gtenants/", include_in_schema=False)
@router.get("/projects/groups")
@router.get("/projects/groups/", include_in_schema=False)
def groups(rules: RulesDep) -> dict[str, Any]:
    """List all groups with their members."""
    return dict(rules.groups())


@router.post("/registry/gtenants", status_code=201)
@router.post("/registry/gtenants/", status_code=201, include_in_schema=False)
@router.post("/projects/groups", status_code=201)
@router.post("/projects/groups/", status_code=201, include_in_schema=False)
def add_group(rules: RulesDep, given: Group | Members) -> dict[str, Any]:
    """Create a group."""
    group = given if isinstance(given, Group) else Group(members=given)
    if not group.members:
        raise RequestRefusedError(400, "a group needs a member: name tenants, or containers as <tenant>/<container>")
    name = group.name or secrets.token_hex(4)
    if name in rules.groups():
        raise RequestRefusedError(409, f"group {name} already exists")
    rules.keep_group(name, group.members)
    return {"id": name, "members": sorted(set(group.members))}


@router.get("/registry/gtenants/{name}")
@router.get("/registry/gtenants/{name}/", include_in_schema=False)
@router.get("/projects/groups/{name}")
@router.get("/projects/groups/{name}/", include_in_schema=False)
def members(rules: RulesDep, name: str) -> list[str]:
    """List the members of a group."""
    return list(_members(rules, name))


@router.put("/registry/gtenants/{name}", status_code=201)
@router.put("/registry/gtenants/{name}/", status_code=201, include_in_schema=False)
@router.put("/projects/groups/{name}", status_code=201)
@router.put("/projects/groups/{name}/", status_code=201, include_in_schema=False)
def set_members(rules: RulesDep, name: str, members: Members) -> dict[str, Any]:
    """Replace the members of a group."""
    _members(rules, name)
    rules.keep_group(name, members)
    return {"id": name, "members": sorted(set(members))}


@router.delete("/registry/gtenants/{name}", status_code=204)
@router.delete("/registry/gtenants/{name}/", status_code=204, include_in_schema=False)
@router.delete("/projects/groups/{name}", status_code=204)
@router.delete("/projects/groups/{name}/", status_code=204, include_in_schema=False)
def remove_group(rules: RulesDep, name: str) -> Response:
    """Remove a group that no rule uses."""
    _refuse_used(rules, name, lambda rule: rule.target.kind is TargetKind.GROUP and rule.target.tenant == name)
    rules.drop_group(name)
    return Response(status_code=204)


@router.delete("/registry/gtenants/{name}/tenants/{project:path}", status_code=204)
@router.delete("/registry/gtenants/{name}/tenants/{project:path}/", status_code=204, include_in_schema=False)
@router.delete("/projects/groups/{name}/projects/{project:path}", status_code=204)
@router.delete("/projects/groups/{name}/projects/{project:path}/", status_code=204, include_in_schema=False)
def leave_group(rules: RulesDep, name: str, project: str) -> Response:
    """Remove a member."""
    rules.keep_group(name, [member for member in _members(rules, name) if member != project])
    return Response(status_code=204)


@router.get("/registry/object_type")
@router.get("/registry/object_type/", include_in_schema=False)
@router.get("/policies/object_type")
@router.get("/policies/object_type/", include_in_schema=False)
def object_types(rules: RulesDep) -> list[dict[str, Any]]:
    """List all object types with their endings."""
    return [{"name": name, "types_list": list(endings)} for name, endings in rules.object_types().items()]


@router.post("/registry/object_type", status_code=201)
@router.post("/registry/object_type/", status_code=201, include_in_schema=False)
@router.post("/policies/object_type", status_code=201)
@router.post("/policies/object_type/", status_code=201, include_in_schema=False)
def add_object_type(rules: RulesDep, given: ObjectType) -> dict[str, Any]:
    """Create an object type."""
    if given.name in rules.object_types():
        raise RequestRefusedError(409, f"object type {given.name} already exists")
    rules.keep_object_type(given.name, _plain(given.types_list))
    return {"name": given.name, "types_list": sorted(set(_plain(given.types_list)))}


@router.get("/registry/object_type/{name}")
@router.get("/registry/object_type/{name}/", include_in_schema=False)
@router.get("/policies/object_type/{name}")
@router.get("/policies/object_type/{name}/", include_in_schema=False)
def endings(rules: RulesDep, name: str) -> dict[str, Any]:
    """Show the endings of an object type."""
    return {"name": name, "types_list": list(_endings(rules, name))}


@router.put("/registry/object_type/{name}", status_code=201)
@router.put("/registry/object_type/{name}/", status_code=201, include_in_schema=False)
@router.put("/policies/object_type/{name}", status_code=201)
@router.put("/policies/object_type/{name}/", status_code=201, include_in_schema=False)
def set_endings(rules: RulesDep, name: str, endings: Endings) -> dict[str, Any]:
    """Replace the endings of an object type."""
    _endings(rules, name)
    rules.keep_object_type(name, _plain(endings))
    return {"name": name, "types_list": sorted(set(_plain(endings)))}


@router.delete("/registry/object_type/{name}", status_code=204)
@router.delete("/registry/object_type/{name}/", status_code=204, include_in_schema=False)
@router.delete("/policies/object_type/{name}", status_code=204)
@router.delete("/policies/object_type/{name}/", status_code=204, include_in_schema=False)
def remove_object_type(rules: RulesDep, name: str) -> Response:
    """Remove an object type that no rule uses."""
    _refuse_used(rules, name, lambda rule: name.upper() in _types_of(rule))
    rules.drop_object_type(name)
    return Response(status_code=204)


def _plain(endings: Endings) -> list[str]:
    return [ending.lower().removeprefix(".") for ending in endings]


def _types_of(rule: Rule) -> set[str]:
    terms = (*comparisons(rule.condition), *(term for action in rule.actions for term in action.only))
    return {term.value.upper() for term in terms if term.name.upper() == OBJECT_TYPE}


def _refuse_used(rules: RuleLedger, name: str, uses: Any) -> None:
    if used := next((rule for rule in rules.rules() if rule.rule is not None and uses(rule.rule)), None):
        raise RequestRefusedError(409, f"rule {used.id} uses {name}: remove it first")


def _members(rules: RuleLedger, name: str) -> list[str]:
    found = rules.groups().get(name)
    if found is None:
        raise RequestRefusedError(404, f"group {name} does not exist")
    return list(found)


def _endings(rules: RuleLedger, name: str) -> list[str]:
    found = rules.object_types().get(name)
    if found is None:
        raise RequestRefusedError(404, f"object type {name} does not exist")
    return list(found)
