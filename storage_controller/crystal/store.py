"""Swift in Crystal's API: places of objects, storage policies, and enabled projects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from storage_controller.routes.parameters import LedgerDep, ServicesDep
from storage_controller.routes.services import PLACES
from storage_controller.swift.storage_policies import NewStoragePolicy


class Tenant(BaseModel):
    """A project to enable, in the appendix dialect."""

    tenant_name: Annotated[str, Field(min_length=1, max_length=256)]


router = APIRouter()


@router.get("/swift/locality/{account}/{path:path}")
def locality(services: ServicesDep, account: str, path: str) -> Mapping[str, Any]:
    """Return Swift's endpoints for a name; an object's path may contain slashes and end with one."""
    return services.connected_swift(PLACES).places.endpoints(account, path.removesuffix("/"))


@router.get("/swift/storage_policies")
def storage_policies(services: ServicesDep) -> list[Mapping[str, Any]]:
    """List the storage policies of Swift."""
    return services.connected_swift(PLACES).places.storage_policies()


@router.post("/swift/spolicies", status_code=201)
def add_storage_policy(services: ServicesDep, wanted: NewStoragePolicy) -> str:
    """Create a storage policy by the program of the settings; the answer is its output."""
    return services.policies.make(wanted)


@router.post("/swift/tenants", status_code=201)
def enable_tenant(ledger: LedgerDep, tenant: Tenant) -> dict[str, str]:
    """Enable a tenant, in the appendix dialect."""
    ledger.keep_project(tenant.tenant_name, tenant.tenant_name)
    return {"tenant_name": tenant.tenant_name}


@router.put("/projects/{project_id}", status_code=201)
def enable_project(ledger: LedgerDep, project_id: str) -> dict[str, str]:
    """Enable a project, in the later dialect."""
    ledger.keep_project(project_id, project_id)
    return {"project_id": project_id}
