"""Words that rules use, registered at run time in both dialects: groups of tenants and containers, types of objects."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import AliasChoices, BaseModel, Field, StringConstraints

from storage_controller.answers import Refused
from storage_controller.rule_ledger import RuleLedger
from storage_filters.rules import OBJECT_TYPE, Rule, TargetKind, comparisons

_MEMBERS_MAX = 1000
_ENDINGS_MAX = 200
Word = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[^\s\x00/:\"]+$")]
Member = Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=r"^[^\s\x00/]+(/[^\x00/]+)?$")]
Ending = Annotated[str, StringConstraints(min_length=1, max_length=32, pattern=r"^\.?[^\s\x00./]+$")]
Members = Annotated[list[Member], Field(max_length=_MEMBERS_MAX)]
Endings = Annotated[list[Ending], Field(min_length=1, max_length=_ENDINGS_MAX)]


class Group(BaseModel):
    """A group with its name; without one, the controller gives it one, as the appendix dialect expects."""

    name: Word | None = None
    members: Members = Field(validation_alias=AliasChoices("members", "attached_projects"))


class ObjectType(BaseModel):
    """A type of objects: endings of their names."""

    name: Word
    types_list: Endings


def word_routes(rules: RuleLedger) -> APIRouter:
    """`/registry/gtenants` and `/registry/object_type`, and the paths of the later dialect."""
    routes = APIRouter()
    for path in ("/registry/gtenants", "/projects/groups"):
        _add_groups(routes, path, rules)
    for path in ("/registry/object_type", "/policies/object_type"):
        _add_types(routes, path, rules)
    return routes


def _add_groups(routes: APIRouter, path: str, rules: RuleLedger) -> None:
    def listed() -> dict[str, Any]:
        return dict(rules.groups())

    def create(given: Group | Members) -> dict[str, Any]:
        group = given if isinstance(given, Group) else Group(members=given)
        if not group.members:
            raise Refused(400, "a group needs a member: name tenants, or containers as <tenant>/<container>")
        name = group.name or secrets.token_hex(4)
        if name in rules.groups():
            raise Refused(409, f"there is a group {name} already")
        rules.keep_group(name, group.members)
        return {"id": name, "members": sorted(set(group.members))}

    def shown(name: str) -> list[str]:
        return list(_members(rules, name))

    def change(name: str, members: Members) -> dict[str, Any]:
        _members(rules, name)
        rules.keep_group(name, members)
        return {"id": name, "members": sorted(set(members))}

    def delete(name: str) -> Response:
        _unused(rules, name, lambda rule: rule.target.kind is TargetKind.GROUP and rule.target.tenant == name)
        rules.drop_group(name)
        return Response(status_code=204)

    def leave(name: str, project: str) -> Response:
        rules.keep_group(name, [one for one in _members(rules, name) if one != project])
        return Response(status_code=204)

    for suffix in ("", "/"):
        routes.get(path + suffix, include_in_schema=not suffix)(listed)
        routes.post(path + suffix, status_code=201, include_in_schema=not suffix)(create)
        routes.get(f"{path}/{{name}}{suffix}", include_in_schema=not suffix)(shown)
        routes.put(f"{path}/{{name}}{suffix}", status_code=201, include_in_schema=not suffix)(change)
        routes.delete(f"{path}/{{name}}{suffix}", status_code=204, include_in_schema=not suffix)(delete)
        left = f"{path}/{{name}}/{'projects' if path.startswith('/projects') else 'tenants'}/{{project:path}}{suffix}"
        routes.delete(left, status_code=204, include_in_schema=not suffix)(leave)


def _add_types(routes: APIRouter, path: str, rules: RuleLedger) -> None:
    def listed() -> list[dict[str, Any]]:
        return [{"name": name, "types_list": list(endings)} for name, endings in rules.object_types().items()]

    def create(given: ObjectType) -> dict[str, Any]:
        if given.name in rules.object_types():
            raise Refused(409, f"there is an object type {given.name} already")
        rules.keep_object_type(given.name, _plain(given.types_list))
        return {"name": given.name, "types_list": sorted(set(_plain(given.types_list)))}

    def shown(name: str) -> dict[str, Any]:
        return {"name": name, "types_list": list(_endings(rules, name))}

    def change(name: str, endings: Endings) -> dict[str, Any]:
        _endings(rules, name)
        rules.keep_object_type(name, _plain(endings))
        return {"name": name, "types_list": sorted(set(_plain(endings)))}

    def delete(name: str) -> Response:
        _unused(rules, name, lambda rule: name.upper() in _types_of(rule))
        rules.drop_object_type(name)
        return Response(status_code=204)

    for suffix in ("", "/"):
        routes.get(path + suffix, include_in_schema=not suffix)(listed)
        routes.post(path + suffix, status_code=201, include_in_schema=not suffix)(create)
        routes.get(f"{path}/{{name}}{suffix}", include_in_schema=not suffix)(shown)
        routes.put(f"{path}/{{name}}{suffix}", status_code=201, include_in_schema=not suffix)(change)
        routes.delete(f"{path}/{{name}}{suffix}", status_code=204, include_in_schema=not suffix)(delete)


def _plain(endings: Endings) -> list[str]:
    return [ending.lower().removeprefix(".") for ending in endings]


def _types_of(rule: Rule) -> set[str]:
    terms = (*comparisons(rule.condition), *(term for action in rule.actions for term in action.only))
    return {term.value.upper() for term in terms if term.name.upper() == OBJECT_TYPE}


def _unused(rules: RuleLedger, name: str, uses: Any) -> None:
    if used := next((one for one in rules.rules() if one.rule is not None and uses(one.rule)), None):
        raise Refused(409, f"rule {used.id} uses {name}: remove it first")


def _members(rules: RuleLedger, name: str) -> list[str]:
    found = rules.groups().get(name)
    if found is None:
        raise Refused(404, f"there is no group {name}")
    return list(found)


def _endings(rules: RuleLedger, name: str) -> list[str]:
    found = rules.object_types().get(name)
    if found is None:
        raise Refused(404, f"there is no object type {name}")
    return list(found)
