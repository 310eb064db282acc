"""Filters that users upload for the objects of their tenant. Admins write rules that use them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Response

from zoe_api.access.access import AsAdmin, AsReader, AsSubmitter, check
from zoe_api.http.routing import api_router
from zoe_api.storage.client import UPLOADS, ControllerDep
from zoe_client.wire import (
    StorageFilterFile,
    StorageFilterList,
    StorageFilterRequest,
    StorageFilterVersionView,
    StorageFilterView,
)
from zoe_client.words.names import FILTER_NAME
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.store.people import Principal

router = api_router("/storage/filters", tag="storage")
Name = Annotated[str, Path(min_length=1, max_length=100, pattern=FILTER_NAME)]
Tenant = Annotated[
    str | None, Query(max_length=256, description="Tenant of the filter (default: yours). Other tenants need an admin.")
]
Shared = Annotated[bool, Query(description="Share the filter with all tenants; needs an admin.")]


@router.get("", response_model=StorageFilterList)
def list_storage_filters(
    caller: AsReader,
    controller: ControllerDep,
    everyone: Annotated[bool, Query(description="List the filters of all tenants; needs an admin.")] = False,
) -> StorageFilterList:
    """List the filters that rules for your tenant may use: its own, and shared ones."""
    if everyone:
        check(caller.principal, Scope.ADMIN)
    query = {"tenant": None if everyone else caller.tenant}
    return StorageFilterList(
        filters=controller.ask(list[StorageFilterView], "GET", "/v1/modules", query=query),
        versions=controller.ask(list[StorageFilterVersionView], "GET", "/v1/modules/versions", query=query, older=[]),
    )


@router.put("/{name}", response_model=StorageFilterView, status_code=201)
def upload_storage_filter(
    name: Name, body: StorageFilterRequest, caller: AsSubmitter, controller: ControllerDep
) -> StorageFilterView:
    """Upload a filter, or a new version of yours. Rules keep their version until an admin moves them. Admins may upload
    new versions of all filters.
    """
    query = {
        "tenant": _owner(caller.principal, body.tenant, body.shared),
        "only_author": _only_author(caller.principal),
    }
    file, path = StorageFilterFile(data=body.module), f"/v1/modules/{name}"
    return controller.ask(StorageFilterView, "PUT", path, file, query=query, lane=UPLOADS, compiles=True)


@router.delete("/{name}", status_code=204)
def remove_storage_filter(
    name: Name,
    caller: AsSubmitter,
    controller: ControllerDep,
    tenant: Tenant = None,
    shared: Shared = False,
) -> Response:
    """Remove a filter of yours that no rule uses. Objects stored through it remain readable. Admins may remove all
    filters.
    """
    query = {"tenant": _owner(caller.principal, tenant, shared), "only_author": _only_author(caller.principal)}
    controller.remove(f"/v1/modules/{name}", query)
    return Response(status_code=204)


@router.delete("/{name}/versions/{sha256}", status_code=204)
def remove_storage_filter_version(
    name: Name,
    sha256: Annotated[str, Path(pattern=r"^[0-9a-f]{6,64}$", description="Beginning of the version's SHA-256.")],
    caller: AsAdmin,
    controller: ControllerDep,
    tenant: Tenant = None,
) -> Response:
    """Remove a version of a filter that is kept for stored objects, after all objects of the tenant were rewritten.
    Older versions of objects, in containers with versioning, are not checked: they become unreadable.
    """
    controller.remove(f"/v1/modules/{name}/versions/{sha256}", {"tenant": tenant or caller.tenant})
    return Response(status_code=204)


def _only_author(principal: Principal) -> bool:
    """Return whether to refuse modules of other authors: a module belongs to its author and to admins, who write the
    rules that run it.
    """
    return Scope.ADMIN not in principal.scopes


def _owner(principal: Principal, tenant: str | None, shared: bool) -> str:
    if shared or tenant not in (None, principal.tenant):
        check(principal, Scope.ADMIN)
    return "" if shared else tenant or principal.tenant
