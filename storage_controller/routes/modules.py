"""Modules under `/v1/modules`: uploaded, listed, removed. Without a tenant, one is shared: rules for all may set it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Base64Bytes, BaseModel, StringConstraints

from storage_controller.answers import Refused, warning
from storage_controller.routes.parameters import Author, ModulesDep, RulesDep
from storage_controller.rules.module_ledger import KeptModule, KeptVersion, document
from storage_controller.rules.rule_modules import RuleModule
from storage_controller.rules.uploading import keep_module

Name = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9_-]+$")]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{6,64}$")]
OnlyAuthor = Annotated[
    bool, Query(description="Refuse a change of a module of another author: the caller is no admin.")
]
Tenant = Annotated[str, Query(max_length=256, pattern=r"^[^\s\x00/:\"]*$")]


class Uploaded(BaseModel):
    """A module's file, in base64."""

    data: Base64Bytes


router = APIRouter(prefix="/v1/modules")


@router.get("")
def listed(rules: RulesDep, modules: ModulesDep, tenant: str | None = None) -> list[Mapping[str, Any]]:
    """List the newest versions of modules: of a tenant and shared ones, or all."""
    there = rules.rule_modules()
    return [document(one, _users(there, one)) for one in modules.modules(tenant)]


@router.get("/versions")
def versions(rules: RulesDep, modules: ModulesDep, tenant: str | None = None) -> list[Mapping[str, Any]]:
    """List all versions of modules, with the rules that run them."""
    there = rules.rule_modules()
    return [
        {**asdict(one), "tenant": one.tenant or None, "rules": _run_by(there, one)} for one in modules.versions(tenant)
    ]


@router.delete("/{name}/versions/{sha256}", status_code=204)
def forget(modules: ModulesDep, name: Name, sha256: Digest, tenant: Tenant = "") -> Response:
    """Remove a version that no rule and no object needs."""
    modules.forget(tenant, name, sha256)
    return Response(status_code=204)


@router.put("/{name}", status_code=201)
def upload(
    rules: RulesDep,
    modules: ModulesDep,
    name: Name,
    given: Uploaded,
    tenant: Tenant = "",
    author: Author = None,
    only_author: OnlyAuthor = False,
) -> Mapping[str, Any]:
    """Store a new version of a module."""
    made = keep_module(modules, tenant, name, given.data, author, only_author)
    if not only_author:  # an admin, who may also write rules
        rules.pin_missing(tenant, name)
    return document(made, _users(rules.rule_modules(), made))


@router.delete("/{name}", status_code=204)
def remove(
    modules: ModulesDep, name: Name, tenant: Tenant = "", author: Author = None, only_author: OnlyAuthor = False
) -> Response:
    """Remove a module that no rule sets."""
    found = next((one for one in modules.modules(tenant) if (one.tenant, one.name) == (tenant, name.lower())), None)
    if found is None:
        raise Refused(404, f"there is no module {name}")
    modules.drop(tenant, name, author, only_author)
    said = [] if found.reads else ["objects that were stored through it are still read by it"]
    return Response(status_code=204, headers=dict(warning(said)))


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
