"""Nodes of the object store: how each is, and restarts of one."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request

from zoe_api.access.access import Admin
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import MasterDep, ask
from zoe_client.wire import StorageNodeList, StorageNodeView

router = api_router("/storage/nodes", tag="storage")
_KIND = "storage_rules"
Name = Annotated[str, Path(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9._-]+$")]


@router.get("", response_model=StorageNodeList)
def list_storage_nodes(_: Admin, master: MasterDep, request: Request) -> StorageNodeList:
    """List the object store's servers: how each is, since when and why."""
    return StorageNodeList(**ask(master, _KIND, {"do": "nodes"}, request))


@router.post("/{name}/restart", response_model=StorageNodeView, status_code=202)
def restart_storage_node(name: Name, principal: Admin, master: MasterDep, request: Request) -> StorageNodeView:
    """Begin to restart a server of the object store; the list tells how it ended."""
    asked = {"do": "restart_node", "name": name, "author": principal.user}
    return StorageNodeView(**ask(master, _KIND, asked, request, principal.user))
