"""Permanent bandwidth guarantees of tenants, set by admins."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import Path, Response

from zoe_api.access.access import AsAdmin
from zoe_api.http.routing import api_router
from zoe_api.storage.client import ControllerDep
from zoe_client.wire import StorageSloList, StorageSloRequest, StorageSloView
from zoe_client.words.names import TENANT_AT_THE_STORE

router = api_router("/storage/slos", tag="storage")
Tenant = Annotated[str, Path(min_length=1, max_length=256, pattern=TENANT_AT_THE_STORE)]


@router.get("", response_model=StorageSloList)
def list_storage_slos(_: AsAdmin, controller: ControllerDep) -> StorageSloList:
    """List the bandwidth guarantees of tenants, and their origin."""
    return StorageSloList(slos=controller.ask(list[StorageSloView], "GET", "/v1/slos"))


@router.put("/{tenant}", response_model=StorageSloView, status_code=201)
def set_storage_slo(
    tenant: Tenant,
    body: StorageSloRequest,
    caller: AsAdmin,
    controller: ControllerDep,
) -> StorageSloView:
    """Guarantee bandwidth to a tenant until the SLO is removed. Null removes a rate; an absent one stays."""
    answer = controller.ask(StorageSloView, "PUT", f"/v1/slos/{quote(tenant)}", body)
    if tenant not in {tenant.name for tenant in caller.services.accounts.tenants()}:
        answer.notes.append(f"Zoe has no tenant {tenant}: the SLO applies to an account of the store with this name")
    return answer


@router.delete("/{tenant}", status_code=204)
def remove_storage_slo(tenant: Tenant, _: AsAdmin, controller: ControllerDep) -> Response:
    """Remove the standing SLO of a tenant."""
    controller.remove(f"/v1/slos/{quote(tenant)}")
    return Response(status_code=204)
