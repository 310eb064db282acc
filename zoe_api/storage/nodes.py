"""Servers of the object store: their health, and restarts."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from zoe_api.access.access import AsAdmin
from zoe_api.http.routing import api_router
from zoe_api.storage.client import ControllerDep
from zoe_client.wire import StorageNodeList, StorageNodeView

router = api_router("/storage/nodes", tag="storage")
_LACKS = "this storage controller does not monitor nodes: use zoe-storage"
Name = Annotated[str, Path(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9._-]+$")]


@router.get("", response_model=StorageNodeList)
def list_storage_nodes(_: AsAdmin, controller: ControllerDep) -> StorageNodeList:
    """List the object store's servers with their health, since when and why."""
    return StorageNodeList(nodes=controller.ask(list[StorageNodeView], "GET", "/v1/nodes", lacks=_LACKS))


@router.post("/{name}/restart", response_model=StorageNodeView, status_code=202)
def restart_storage_node(name: Name, _: AsAdmin, controller: ControllerDep) -> StorageNodeView:
    """Begin to restart a server of the object store; the list shows the outcome."""
    return controller.ask(StorageNodeView, "POST", f"/v1/nodes/{name}/restart")
