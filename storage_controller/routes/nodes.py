"""Nodes of the store under `/v1/nodes`: health and restarts."""

from __future__ import annotations

from fastapi import APIRouter

from storage_controller.nodes.watch import NodeHealth, StoreNodes
from storage_controller.routes.parameters import Author, ServicesDep
from zoe_client.wire.storage.nodes import StorageDiskView, StorageNodeView, StorageRestartView

router = APIRouter(prefix="/v1/nodes")


@router.get("")
def list_nodes(services: ServicesDep) -> list[StorageNodeView]:
    """List all nodes."""
    return [_view(services.nodes, health) for health in services.nodes.all()]


@router.post("/{name}/restart", status_code=202)
def restart(services: ServicesDep, name: str, author: Author = None) -> StorageNodeView:
    """Begin the restart of a node."""
    services.nodes.restarts.begin(name, author)
    return next(_view(services.nodes, health) for health in services.nodes.all() if health.name == name)


def _view(nodes: StoreNodes, one: NodeHealth) -> StorageNodeView:
    restart, found = nodes.restarts.last_restart(one.name), one.found
    return StorageNodeView(
        name=one.name,
        kind=one.kind.value,
        state=one.state.value,
        reason=one.reason,
        since_s=one.since_s,
        at_s=one.at_s,
        latency_s=None if found.away or one.at_s is None else found.took_s,
        recon=found.recon,
        disks=[StorageDiskView.model_validate(disk) for disk in found.disks],
        quarantined=found.quarantined,
        pending=found.pending,
        replicated_s=found.replicated_s,
        restartable=nodes.restarts.can(one.name),
        restart=None if restart is None else StorageRestartView.model_validate(restart),
    )
