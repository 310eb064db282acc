"""Filters that users upload for the objects of their tenant. Rules set them, which admins write."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query, Request, Response

from zoe_api.access.access import Admin, Reader, Submitter, check
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import MasterDep, ask
from zoe_client.wire import StorageFilterList, StorageFilterRequest, StorageFilterView
from zoe_client.words.names import FILTER_NAME
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.store.people import Principal

router = api_router("/storage/filters", tag="storage")
_KIND, _UPLOADS = "storage_rules", "storage_uploads"
Name = Annotated[str, Path(min_length=1, max_length=100, pattern=FILTER_NAME)]
Tenant = Annotated[str | None, Query(max_length=256, description="Whose; default: yours. Others need an admin.")]
Shared = Annotated[bool, Query(description="One that all tenants share; needs an admin.")]


@router.get("", response_model=StorageFilterList)
def list_storage_filters(
    principal: Reader,
    master: MasterDep,
    request: Request,
    everyone: Annotated[bool, Query(description="Of all tenants; needs an admin.")] = False,
) -> StorageFilterList:
    """List the filters that rules for your tenant may set: its own, and shared ones."""
    if everyone:
        check(principal, Scope.ADMIN)
    asked: dict[str, Any] = {"do": "filters"} | ({} if everyone else {"tenant": principal.tenant})
    return StorageFilterList(**ask(master, _KIND, asked, request))


@router.put("/{name}", response_model=StorageFilterView, status_code=201)
def upload_storage_filter(
    name: Name, body: StorageFilterRequest, principal: Submitter, master: MasterDep, request: Request
) -> StorageFilterView:
    """Upload a filter, or a new version of yours. Rules run the version that they had, until an admin moves them.
    Admins may upload new versions of all filters."""
    asked = {"do": "upload", "name": name, "tenant": _owner(principal, body.tenant, body.shared), "text": body.module}
    return StorageFilterView(**ask(master, _UPLOADS, asked | _who(principal), request, principal.user))


@router.delete("/{name}", status_code=204)
def remove_storage_filter(
    name: Name,
    principal: Submitter,
    master: MasterDep,
    request: Request,
    tenant: Tenant = None,
    shared: Shared = False,
) -> Response:
    """Remove a filter of yours that no rule sets. Objects that were stored through it are read as before. Admins may
    remove all filters."""
    asked = {"do": "drop", "name": name, "tenant": _owner(principal, tenant, shared)}
    ask(master, _KIND, asked | _who(principal), request, principal.user)
    return Response(status_code=204)


@router.delete("/{name}/versions/{sha256}", status_code=204)
def remove_storage_filter_version(
    name: Name,
    sha256: Annotated[str, Path(pattern=r"^[0-9a-f]{6,64}$", description="The beginning of its SHA-256.")],
    principal: Admin,
    master: MasterDep,
    request: Request,
    tenant: Tenant = None,
) -> Response:
    """Remove a version of a filter that is kept for stored objects, after all objects of the tenant were stored again.
    Older versions of objects, in containers that keep some, are not looked at: they cannot be read any more."""
    asked = {"do": "forget", "name": name, "sha256": sha256, "tenant": tenant or principal.tenant}
    ask(master, _KIND, asked | {"author": principal.user}, request, principal.user)
    return Response(status_code=204)


def _who(principal: Principal) -> dict[str, Any]:
    """Return who asks. A module belongs to its author, and to those who may write the rules that run it."""
    return {"author": principal.user, "only_author": Scope.ADMIN not in principal.scopes}


def _owner(principal: Principal, tenant: str | None, shared: bool) -> str:
    if shared or tenant not in (None, principal.tenant):
        check(principal, Scope.ADMIN)
    return "" if shared else tenant or principal.tenant
