"""The store's nodes under `/v1/nodes`: how each is, and restarts."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter

from storage_controller.nodes.watch import NodeHealth, StoreNodes
from storage_controller.routes.parameters import Author, ServicesDep

router = APIRouter(prefix="/v1/nodes")


@router.get("")
def listed(services: ServicesDep) -> list[dict[str, Any]]:
    """List all nodes."""
    return [_document(services.nodes, one) for one in services.nodes.all()]


@router.post("/{name}/restart", status_code=202)
def restart(services: ServicesDep, name: str, author: Author = None) -> dict[str, Any]:
    """Begin the restart of a node."""
    services.nodes.restarts.begin(name, author)
    return next(_document(services.nodes, one) for one in services.nodes.all() if one.name == name)


def _document(nodes: StoreNodes, one: NodeHealth) -> dict[str, Any]:
    restart, found = nodes.restarts.last(one.name), one.found
    return {
        "name": one.name,
        "kind": one.kind,
        "state": one.state,
        "reason": one.reason,
        "since_s": one.since_s,
        "at_s": one.at_s,
        "latency_s": None if found.away or one.at_s is None else found.took_s,
        "recon": found.recon,
        "disks": [asdict(disk) for disk in found.disks],
        "quarantined": found.quarantined,
        "pending": found.pending,
        "replicated_s": found.replicated_s,
        "restartable": nodes.restarts.can(one.name),
        "restart": None if restart is None else asdict(restart),
    }
