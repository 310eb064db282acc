"""Limits on cores that filters and views of tenants may use at each proxy of the object store."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import Path, Response

from zoe_api.access.access import AsAdmin
from zoe_api.http.routing import api_router
from zoe_api.storage.client import ControllerDep
from zoe_client.wire import StorageCoresList, StorageCoresRequest, StorageCoresView
from zoe_client.words.names import TENANT_AT_THE_STORE

router = api_router("/storage/cores", tag="storage")
_OTHERS = "*"
Tenant = Annotated[str, Path(min_length=1, max_length=256, pattern=TENANT_AT_THE_STORE)]


@router.get("", response_model=StorageCoresList)
def list_storage_cores(_: AsAdmin, controller: ControllerDep) -> StorageCoresList:
    """List the cores that filters and views of tenants may use at each proxy."""
    return StorageCoresList(cores=controller.ask(list[StorageCoresView], "GET", "/v1/filter-cores"))


@router.put("/{tenant}", response_model=StorageCoresView, status_code=201)
def set_storage_cores(
    tenant: Tenant,
    body: StorageCoresRequest,
    caller: AsAdmin,
    controller: ControllerDep,
) -> StorageCoresView:
    """Limit the cores of a tenant's filters and views at each proxy until the limit is removed; `*`: of all other
    tenants.
    """
    path = f"/v1/filter-cores/{quote(tenant)}"
    answer = controller.ask(StorageCoresView, "PUT", path, body)
    if tenant not in {_OTHERS, *(tenant.name for tenant in caller.services.accounts.tenants())}:
        answer.notes.append(f"Zoe has no tenant {tenant}: the limit applies to an account of the store with this name")
    return answer


@router.delete("/{tenant}", status_code=204)
def remove_storage_cores(tenant: Tenant, _: AsAdmin, controller: ControllerDep) -> Response:
    """Remove the limit of a tenant; the setting of the storage controller applies again."""
    controller.remove(f"/v1/filter-cores/{quote(tenant)}")
    return Response(status_code=204)
