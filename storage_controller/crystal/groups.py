"""Groups of tenants and containers that rules name, in both dialects: by name, or by a number as in Crystal.

The group itself is Zoe's and has a name; a record has its number. A group without a name is named by its number.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, StringConstraints

from storage_controller.answers import RequestRefusedError
from storage_controller.crystal.records import RecordKind, Records, RecordsDep
from storage_controller.crystal.words import Word, refuse_used
from storage_controller.routes.parameters import RulesDep
from storage_controller.rules.rule_store import RuleLedger
from storage_filters.rules.rules import TargetKind

_MEMBERS_MAX = 1000
_LIST_CHARACTERS_MAX = 2**20


def _list(value: object) -> object:
    """Parse a list that the client sends as a text of JSON, as Crystal's dashboard does."""
    try:
        return json.loads(value) if isinstance(value, str) and len(value) <= _LIST_CHARACTERS_MAX else value
    except (ValueError, RecursionError):
        return value


Member = Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=r"^[^\s\x00/]+(/[^\x00/]+)?$")]
Members = Annotated[list[Member], Field(max_length=_MEMBERS_MAX), BeforeValidator(_list)]


class Group(BaseModel):
    """A group. Without a name, its number is its name, as the appendix dialect expects."""

    name: Word | None = None
    members: Members = Field(validation_alias=AliasChoices("members", "attached_projects"))


class Groups:
    """The groups of rules with their numbers."""

    def __init__(self, rules: RuleLedger, records: Records) -> None:
        self._rules = rules
        self._records = records

    def all(self) -> dict[str, list[str]]:
        """Return the members of all groups, by name."""
        return {name: list(members) for name, members in self._rules.groups().items()}

    def numbers(self) -> dict[str, str]:
        """Return the number of each group that has one, by name."""
        return {one["name"]: str(number) for number, one in self._records.all(RecordKind.GROUP).items()}

    def name_of(self, name: str) -> str:
        """Return the name of the group with a name or number. Raises RequestRefusedError (404)."""
        numbered = {number: named for named, number in self.numbers().items()}
        for wanted in (name, numbered.get(name)):
            if wanted is not None and wanted in self._rules.groups():
                return wanted
        raise RequestRefusedError(404, f"group {name} does not exist")

    def add(self, group: Group) -> dict[str, Any]:
        """Create a group. Raises RequestRefusedError."""
        if not group.members:
            raise RequestRefusedError(
                400, "a group needs a member: name tenants, or containers as <tenant>/<container>"
            )
        there = self._rules.groups()
        if group.name in there:
            raise RequestRefusedError(409, f"group {group.name} already exists")
        number = self._records.add(RecordKind.GROUP, {"name": group.name or ""})
        name = group.name or str(number)
        if name in there:
            self._records.drop(RecordKind.GROUP, number)
            raise RequestRefusedError(409, f"group {name} already exists: give the new one a name")
        self._records.change(RecordKind.GROUP, number, {"name": name})
        self._rules.keep_group(name, group.members)
        return {"id": name, "members": sorted(set(group.members))}

    def change(self, name: str, members: list[str]) -> dict[str, Any]:
        """Replace the members of a group. Raises RequestRefusedError."""
        found = self.name_of(name)
        if not members:
            raise RequestRefusedError(400, "a group needs a member: delete the group instead")
        self._rules.keep_group(found, members)
        return {"id": found, "members": sorted(set(members))}

    def leave(self, name: str, project: str) -> None:
        """Remove a member. Raises RequestRefusedError."""
        found = self.name_of(name)
        self._rules.keep_group(found, [member for member in self._rules.groups()[found] if member != project])

    def drop(self, name: str) -> None:
        """Remove a group that no rule uses. Raises RequestRefusedError."""
        found = self.name_of(name)
        refuse_used(
            self._rules, found, lambda rule: rule.target.kind is TargetKind.GROUP and rule.target.tenant == found
        )
        self._rules.drop_group(found)
        for number, one in self._records.all(RecordKind.GROUP).items():
            if one["name"] == found:
                self._records.drop(RecordKind.GROUP, number)


async def _groups(rules: RulesDep, records: RecordsDep) -> Groups:
    return Groups(rules, records)


GroupsDep = Annotated[Groups, Depends(_groups)]
router = APIRouter()


@router.get("/registry/gtenants")
def list_by_appendix(groups: GroupsDep) -> dict[str, Any]:
    """List all groups with their members."""
    return groups.all()


@router.get("/projects/groups")
def list_groups(groups: GroupsDep) -> list[dict[str, Any]]:
    """List all groups with their members and numbers."""
    numbers = groups.numbers()
    return [
        {"name": name, "attached_projects": members, "id": numbers.get(name, name)}
        for name, members in groups.all().items()
    ]


@router.post("/registry/gtenants", status_code=201)
@router.post("/projects/groups", status_code=201)
def create(groups: GroupsDep, given: Group | Members) -> dict[str, Any]:
    """Create a group."""
    return groups.add(given if isinstance(given, Group) else Group(members=given))


@router.get("/registry/gtenants/{name}")
def show_by_appendix(groups: GroupsDep, name: str) -> list[str]:
    """List the members of a group."""
    return groups.all()[groups.name_of(name)]


@router.get("/projects/groups/{name}")
def show_group(groups: GroupsDep, name: str) -> dict[str, Any]:
    """Show a group."""
    found = groups.name_of(name)
    return {"name": found, "attached_projects": groups.all()[found]}


@router.put("/registry/gtenants/{name}", status_code=201)
@router.put("/projects/groups/{name}", status_code=201)
def change(groups: GroupsDep, name: str, given: Group | Members) -> dict[str, Any]:
    """Replace the members of a group."""
    if isinstance(given, Group) and given.name not in (None, groups.name_of(name)):
        raise RequestRefusedError(400, "rules use the name of a group, so it cannot be changed: create another group")
    return groups.change(name, given.members if isinstance(given, Group) else given)


@router.delete("/registry/gtenants/{name}", status_code=204)
@router.delete("/projects/groups/{name}", status_code=204)
def delete(groups: GroupsDep, name: str) -> Response:
    """Remove a group that no rule uses."""
    groups.drop(name)
    return Response(status_code=204)


@router.delete("/registry/gtenants/{name}/tenants/{project:path}", status_code=204)
@router.delete("/projects/groups/{name}/projects/{project:path}", status_code=204)
def leave(groups: GroupsDep, name: str, project: str) -> Response:
    """Remove a member."""
    groups.leave(name, project)
    return Response(status_code=204)
