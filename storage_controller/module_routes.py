"""Modules under `/v1/modules`: uploaded, listed, removed. Without a tenant, one is shared: rules for all may set it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Base64Bytes, BaseModel, StringConstraints

from storage_controller.answers import Refused, warning
from storage_controller.module_check import kind_of
from storage_controller.module_ledger import KeptModule, KeptVersion, ModuleLedger, document
from storage_controller.rule_ledger import RuleLedger
from storage_controller.rule_modules import RuleModule
from storage_controller.rule_routes import Author
from storage_filters.module_engine import MODULE_BYTES_MAX

RESERVED = frozenset({"COMPRESSION", "ENCRYPTION", "NOOP", "BANDWIDTH", "CACHING", "MODULE", "DEPENDENCIES"})
"""Names of filters that proxies have or may get."""
Name = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9_-]+$")]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{6,64}$")]
OnlyAuthor = Annotated[
    bool, Query(description="Refuse a change of a module of another author: the caller is no admin.")
]
Tenant = Annotated[str, Query(max_length=256, pattern=r"^[^\s\x00/:\"]*$")]


class Uploaded(BaseModel):
    """A module's file, in base64."""

    data: Base64Bytes


def module_routes(kept: ModuleLedger, rules: RuleLedger) -> APIRouter:
    """`/v1/modules`."""
    routes = APIRouter(prefix="/v1/modules")

    @routes.get("")
    def listed(tenant: str | None = None) -> list[Mapping[str, Any]]:
        there = rules.rule_modules()
        return [document(one, _users(there, one)) for one in kept.modules(tenant)]

    @routes.get("/versions")
    def versions(tenant: str | None = None) -> list[Mapping[str, Any]]:
        there = rules.rule_modules()
        return [
            {**asdict(one), "tenant": one.tenant or None, "rules": _run_by(there, one)} for one in kept.versions(tenant)
        ]

    @routes.delete("/{name}/versions/{sha256}", status_code=204)
    def forget(name: Name, sha256: Digest, tenant: Tenant = "") -> Response:
        kept.forget(tenant, name, sha256)
        return Response(status_code=204)

    @routes.put("/{name}", status_code=201)
    def upload(
        name: Name, given: Uploaded, tenant: Tenant = "", author: Author = None, only_author: OnlyAuthor = False
    ) -> Mapping[str, Any]:
        made = keep_module(kept, tenant, name, given.data, author, only_author)
        if not only_author:  # an admin, who may also write rules
            rules.pin_missing(tenant, name)
        return document(made, _users(rules.rule_modules(), made))

    @routes.delete("/{name}", status_code=204)
    def remove(name: Name, tenant: Tenant = "", author: Author = None, only_author: OnlyAuthor = False) -> Response:
        found = next((one for one in kept.modules(tenant) if (one.tenant, one.name) == (tenant, name.lower())), None)
        if found is None:
            raise Refused(404, f"there is no module {name}")
        kept.drop(tenant, name, author, only_author)
        said = [] if found.reads else ["objects that were stored through it are still read by it"]
        return Response(status_code=204, headers=dict(warning(said)))

    return routes


def keep_module(
    kept: ModuleLedger, tenant: str, name: str, content: bytes, author: str | None, only_author: bool = False
) -> KeptModule:
    """Check and store a module. Refused."""
    if name.upper() in RESERVED:
        raise Refused(409, f"{name} is the name of another filter: use another name")
    if len(content) > MODULE_BYTES_MAX:
        raise Refused(400, f"a module has at most {MODULE_BYTES_MAX} bytes, not {len(content)}")
    return kept.keep(tenant, name, content, kind_of(content), author, only_author)


def _run_by(rules: Mapping[int, Sequence[RuleModule]], one: KeptVersion) -> list[int]:
    """Return the rules that run a version."""
    wanted = one.tenant, one.name, one.sha256
    return [
        number
        for number, known in sorted(rules.items())
        if any((of_rule.tenant, of_rule.version.name, of_rule.version.sha256) == wanted for of_rule in known)
    ]


def _users(rules: Mapping[int, Sequence[RuleModule]], one: KeptModule) -> list[int]:
    """Return the rules that run a version of a module."""
    return [
        number
        for number, known in sorted(rules.items())
        if any((of_rule.tenant, of_rule.version.name) == (one.tenant, one.name) for of_rule in known)
    ]
