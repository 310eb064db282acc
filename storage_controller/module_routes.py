"""Modules under `/v1/modules`: uploaded, listed, removed. Without a tenant, one is shared: rules for all may set it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Base64Bytes, BaseModel, StringConstraints

from storage_controller.answers import Refused, warning
from storage_controller.module_check import kind_of
from storage_controller.module_ledger import KeptModule, ModuleLedger, document
from storage_controller.rule_ledger import RuleLedger
from storage_controller.rule_routes import Author
from storage_filters.module_engine import MODULE_BYTES_MAX
from storage_filters.rules import Rule, TargetKind

RESERVED = frozenset({"COMPRESSION", "ENCRYPTION", "NOOP", "BANDWIDTH", "CACHING", "MODULE", "DEPENDENCIES"})
"""Names of filters that proxies have or may get."""
Name = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9_-]+$")]
Tenant = Annotated[str, Query(max_length=256, pattern=r"^[^\s\x00/:\"]*$")]


class Uploaded(BaseModel):
    """A module's file, in base64."""

    data: Base64Bytes


def module_routes(kept: ModuleLedger, rules: RuleLedger) -> APIRouter:
    """`/v1/modules`."""
    routes = APIRouter(prefix="/v1/modules")

    @routes.get("")
    def listed(tenant: str | None = None) -> list[Mapping[str, Any]]:
        there = [one.rule for one in rules.rules() if one.rule is not None]
        return [document(one, _users(there, one)) for one in kept.modules(tenant)]

    @routes.put("/{name}", status_code=201)
    def upload(name: Name, given: Uploaded, tenant: Tenant = "", author: Author = None) -> Mapping[str, Any]:
        return document(keep_module(kept, tenant, name, given.data, author))

    @routes.delete("/{name}", status_code=204)
    def remove(name: Name, tenant: Tenant = "") -> Response:
        found = next((one for one in kept.modules(tenant) if (one.tenant, one.name) == (tenant, name.lower())), None)
        if found is None:
            raise Refused(404, f"there is no module {name}")
        if used := _users([one.rule for one in rules.rules() if one.rule is not None], found):
            raise Refused(409, f"rule {used[0]} sets {name}: remove the rule first")
        kept.drop(tenant, name)
        said = [] if found.reads else ["objects that were stored through it are still read by it"]
        return Response(status_code=204, headers=dict(warning(said)))

    return routes


def keep_module(kept: ModuleLedger, tenant: str, name: str, content: bytes, author: str | None) -> KeptModule:
    """Check and store a module. Refused."""
    if name.upper() in RESERVED:
        raise Refused(409, f"{name} is the name of another filter: use another name")
    if len(content) > MODULE_BYTES_MAX:
        raise Refused(400, f"a module has at most {MODULE_BYTES_MAX} bytes, not {len(content)}")
    return kept.keep(tenant, name, content, kind_of(content), author)


def _users(rules: Sequence[Rule], one: KeptModule) -> list[int]:
    """Return the rules that set a module: for its tenant, or for a group, whose members may be of it."""
    return [
        rule.id
        for rule in rules
        if any(action.verb == "SET" and action.kind == one.name.upper() for action in rule.actions)
        and (not one.tenant or rule.target.kind is TargetKind.GROUP or rule.target.tenant == one.tenant)
    ]
