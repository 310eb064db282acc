"""Controllers of the object store: the action of each, and its mode: on, off or dry run."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from zoe_api.access.access import AsAdmin
from zoe_api.http.routing import api_router
from zoe_api.storage.client import ControllerDep
from zoe_client.wire import (
    StorageControllerList,
    StorageControllerRequest,
    StorageControllerView,
    StorageHostingView,
    StorageProxyView,
)

router = api_router("/storage/controllers", tag="storage")
Name = Annotated[str, Path(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9_-]+$")]


@router.get("", response_model=StorageControllerList)
def list_storage_controllers(_: AsAdmin, controller: ControllerDep) -> StorageControllerList:
    """List the controllers, and the last action of each."""
    found = controller.ask(list[StorageControllerView], "GET", "/v1/controllers")
    hosting = controller.ask(dict[str, StorageHostingView], "GET", "/v1/hosting", older={})
    proxies = [
        StorageProxyView(name=name, silent_s=entry.silent_s, filters=entry.filters) for name, entry in hosting.items()
    ]
    return StorageControllerList(controllers=found, proxies=proxies)


@router.get("/{name}", response_model=StorageControllerView)
def get_storage_controller(name: Name, _: AsAdmin, controller: ControllerDep) -> StorageControllerView:
    """Return a controller, with the time of its last switch."""
    return controller.ask(StorageControllerView, "GET", f"/v1/controllers/{name}")


@router.put("/{name}", response_model=StorageControllerView)
def set_storage_controller(
    name: Name, body: StorageControllerRequest, _: AsAdmin, controller: ControllerDep
) -> StorageControllerView:
    """Set a controller on, off, or to a dry run, in which it decides but applies nothing."""
    return controller.ask(StorageControllerView, "PUT", f"/v1/controllers/{name}", body)
