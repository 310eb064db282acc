"""Cores that filters and views of tenants may take at each proxy of the object store."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request, Response

from zoe_api.access.access import Admin
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import AccountsDep, MasterDep, ask
from zoe_client.wire import StorageCoresList, StorageCoresRequest, StorageCoresView
from zoe_client.words.names import TENANT_AT_THE_STORE

router = api_router("/storage/cores", tag="storage")
_KIND = "storage_rules"
_OTHERS = "*"
Tenant = Annotated[str, Path(min_length=1, max_length=256, pattern=TENANT_AT_THE_STORE)]


@router.get("", response_model=StorageCoresList)
def list_storage_cores(_: Admin, master: MasterDep, request: Request) -> StorageCoresList:
    """List the cores that filters and views of tenants may take at each proxy."""
    return StorageCoresList(**ask(master, _KIND, {"do": "cores"}, request))


@router.put("/{tenant}", response_model=StorageCoresView, status_code=201)
def set_storage_cores(
    tenant: Tenant,
    body: StorageCoresRequest,
    principal: Admin,
    master: MasterDep,
    accounts: AccountsDep,
    request: Request,
) -> StorageCoresView:
    """Bound the cores of a tenant's filters and views at each proxy until it is removed; `*`: of all others."""
    asked = {"do": "set_cores", "tenant": tenant, "cores": body.cores, "author": principal.user}
    answer = StorageCoresView(**ask(master, _KIND, asked, request, principal.user))
    if tenant not in {_OTHERS, *(one.name for one in accounts.tenants())}:
        answer.notes.append(f"Zoe has no tenant {tenant}: the bound is for an account of the store with this name")
    return answer


@router.delete("/{tenant}", status_code=204)
def remove_storage_cores(tenant: Tenant, principal: Admin, master: MasterDep, request: Request) -> Response:
    """Remove the bound that was set for a tenant; a setting of the storage controller holds again."""
    ask(master, _KIND, {"do": "clear_cores", "tenant": tenant}, request, principal.user)
    return Response(status_code=204)
