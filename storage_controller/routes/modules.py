"""Modules under `/v1/modules`: upload, list, remove. Without a tenant, a module is shared: rules for all tenants may
set it.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import StringConstraints

from storage_controller.answers import RequestRefusedError, warning
from storage_controller.routes.parameters import Author, ModulesDep, RulesDep
from storage_controller.rules.module_ledger import KeptModule, KeptVersion
from storage_controller.rules.rule_modules import RuleModule
from storage_controller.rules.uploading import keep_module
from zoe_client.wire.storage.filters import (
    FilterName,
    StorageFilterFile,
    StorageFilterVersionView,
    StorageFilterView,
)

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{6,64}$")]
OnlyAuthor = Annotated[
    bool, Query(description="Refuse a change of another author's module: the caller is not an admin.")
]
Tenant = Annotated[str, Query(max_length=256, pattern=r"^[^\s\x00/:\"]*$")]
_OfRules = Mapping[int, Sequence[RuleModule]]

router = APIRouter(prefix="/v1/modules")


@router.get("")
def list_modules(rules: RulesDep, modules: ModulesDep, tenant: str | None = None) -> list[StorageFilterView]:
    """List the newest versions of modules: of a tenant and shared ones, or all."""
    there = rules.rule_modules()
    return [_view(module, there) for module in modules.modules(tenant)]


@router.get("/versions")
def versions(rules: RulesDep, modules: ModulesDep, tenant: str | None = None) -> list[StorageFilterVersionView]:
    """List all versions of modules, with the rules that run them."""
    there = rules.rule_modules()
    return [
        StorageFilterVersionView(
            **asdict(version) | {"tenant": version.tenant or None}, rules=_users(there, version, version.sha256)
        )
        for version in modules.versions(tenant)
    ]


@router.delete("/{name}/versions/{sha256}", status_code=204)
def forget(modules: ModulesDep, name: FilterName, sha256: Digest, tenant: Tenant = "") -> Response:
    """Remove a version that no rule and no object needs."""
    modules.forget(tenant, name, sha256)
    return Response(status_code=204)


@router.put("/{name}", status_code=201)
def upload(
    rules: RulesDep,
    modules: ModulesDep,
    name: FilterName,
    given: StorageFilterFile,
    tenant: Tenant = "",
    author: Author = None,
    only_author: OnlyAuthor = False,
) -> StorageFilterView:
    """Store a new version of a module."""
    try:
        content = base64.b64decode(given.data)
    except ValueError as error:
        raise RequestRefusedError(400, f"data: is not base64: {error}") from None
    made = keep_module(modules, tenant, name, content, author, only_author)
    if not only_author:  # the caller is an admin, with the right to write rules
        rules.pin_missing(tenant, name)
    return _view(made, rules.rule_modules())


@router.delete("/{name}", status_code=204)
def remove(
    modules: ModulesDep, name: FilterName, tenant: Tenant = "", author: Author = None, only_author: OnlyAuthor = False
) -> Response:
    """Remove a module that no rule sets."""
    found = next(
        (module for module in modules.modules(tenant) if (module.tenant, module.name) == (tenant, name.lower())), None
    )
    if found is None:
        raise RequestRefusedError(404, f"module {name} does not exist")
    modules.drop(tenant, name, author, only_author)
    said = [] if found.reads else ["reads of objects that were stored through it still use it"]
    return Response(status_code=204, headers=dict(warning(said)))


def _view(one: KeptModule, of_rules: _OfRules) -> StorageFilterView:
    return StorageFilterView(
        tenant=one.tenant or None,
        name=one.name,
        sha256=one.sha256,
        bytes=one.bytes,
        runs="read" if one.reads else "stored",
        same_size=one.same_size,
        author=one.author,
        created_s=one.created_s,
        rules=_users(of_rules, one),
    )


def _users(of_rules: _OfRules, one: KeptModule | KeptVersion, sha256: str | None = None) -> list[int]:
    """Return the rules that run a module: any version of it, or this one."""
    return [
        number
        for number, known in sorted(of_rules.items())
        if any(
            (each.tenant, each.version.name) == (one.tenant, one.name) and sha256 in (None, each.version.sha256)
            for each in known
        )
    ]
