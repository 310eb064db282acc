"""Bandwidth of the object store that admins guarantee to tenants for good."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request, Response

from zoe_api.access.access import Admin
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import AccountsDep, MasterDep, ask
from zoe_client.wire import StorageSloList, StorageSloRequest, StorageSloView
from zoe_client.words.names import TENANT_AT_THE_STORE

router = api_router("/storage/slos", tag="storage")
_KIND = "storage_rules"
Tenant = Annotated[str, Path(min_length=1, max_length=256, pattern=TENANT_AT_THE_STORE)]


@router.get("", response_model=StorageSloList)
def list_storage_slos(_: Admin, master: MasterDep, request: Request) -> StorageSloList:
    """List the bandwidth that tenants are guaranteed, and by what."""
    return StorageSloList(**ask(master, _KIND, {"do": "slos"}, request))


@router.put("/{tenant}", response_model=StorageSloView, status_code=201)
def set_storage_slo(
    tenant: Tenant,
    body: StorageSloRequest,
    principal: Admin,
    master: MasterDep,
    accounts: AccountsDep,
    request: Request,
) -> StorageSloView:
    """Guarantee bandwidth to a tenant until it is removed. Null removes a rate; one that is not named stays."""
    asked = body.model_dump(exclude_unset=True) | {"do": "set_slo", "tenant": tenant}
    answer = StorageSloView(**ask(master, _KIND, asked, request, principal.user))
    if tenant not in {one.name for one in accounts.tenants()}:
        answer.notes.append(f"Zoe has no tenant {tenant}: the SLO holds for an account of the store with this name")
    return answer


@router.delete("/{tenant}", status_code=204)
def remove_storage_slo(tenant: Tenant, principal: Admin, master: MasterDep, request: Request) -> Response:
    """Remove the standing SLO of a tenant."""
    ask(master, _KIND, {"do": "clear_slo", "tenant": tenant}, request, principal.user)
    return Response(status_code=204)
