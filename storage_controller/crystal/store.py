"""Swift in Crystal's API: places of objects, and storage policies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Response

from storage_controller.answers import warning
from storage_controller.routes.parameters import ServicesDep
from storage_controller.routes.services import PLACES
from storage_controller.swift.storage_policies import NewStoragePolicy

router = APIRouter()


@router.get("/swift/locality/{account}/{path:path}")
def locality(services: ServicesDep, account: str, path: str) -> Mapping[str, Any]:
    """Return Swift's endpoints for a name; an object's path may contain slashes and end with one."""
    return services.connected_swift(PLACES).places.endpoints(account, path.removesuffix("/"))


@router.get("/swift/storage_policies")
def storage_policies(services: ServicesDep, response: Response) -> list[Mapping[str, Any]]:
    """List the storage policies of Swift; none, with a `Warning`, without a connection to one."""
    if services.swift is None:
        response.headers.update(warning(["zoe-storage is not connected to Swift: set swift_auth_url"]))
        return []
    return services.connected_swift(PLACES).places.storage_policies()


@router.post("/swift/spolicies", status_code=201)
def add_storage_policy(services: ServicesDep, wanted: NewStoragePolicy) -> str:
    """Create a storage policy by the program of the settings; the answer is its output."""
    return services.policies.make(wanted)
