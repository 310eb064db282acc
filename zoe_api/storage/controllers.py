"""Controllers of the object store: what each does, and whether it is on, off or in a dry run."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request

from zoe_api.access.access import Admin
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import MasterDep, ask
from zoe_client.wire import StorageControllerList, StorageControllerRequest, StorageControllerView

router = api_router("/storage/controllers", tag="storage")
_KIND = "storage_rules"
Name = Annotated[str, Path(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9_-]+$")]


@router.get("", response_model=StorageControllerList)
def list_storage_controllers(_: Admin, master: MasterDep, request: Request) -> StorageControllerList:
    """List the controllers, and what each did last."""
    return StorageControllerList(**ask(master, _KIND, {"do": "controllers"}, request))


@router.get("/{name}", response_model=StorageControllerView)
def get_storage_controller(name: Name, _: Admin, master: MasterDep, request: Request) -> StorageControllerView:
    """Return a controller, with when it was switched last."""
    return StorageControllerView(**ask(master, _KIND, {"do": "controller", "name": name}, request))


@router.put("/{name}", response_model=StorageControllerView)
def set_storage_controller(
    name: Name, body: StorageControllerRequest, principal: Admin, master: MasterDep, request: Request
) -> StorageControllerView:
    """Set a controller on, off, or to a dry run, in which it decides and nothing is pushed."""
    asked = {"do": "set_controller", "name": name, "mode": body.mode}
    return StorageControllerView(**ask(master, _KIND, asked, request, principal.user))
