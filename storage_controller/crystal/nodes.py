"""Nodes of the store in both dialects: those of the controller's settings, with the regions and zones that clients give
them.

Crystal signs in to nodes by SSH. Zoe does not, and stores no password: the settings have the command to restart a node.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Body, Response

from storage_controller.answers import RequestRefusedError, warning
from storage_controller.crystal.records import RecordKind, Records, RecordsDep
from storage_controller.nodes.watch import NodeHealth
from storage_controller.routes.parameters import Author, ServicesDep
from storage_controller.routes.services import Services

_SSH = ("ssh_username", "ssh_password", "ssh_access")
_OWN = ("name", "type", "state", "reason", "devices", "id", *_SSH)
Fields = Annotated[dict[str, Any], Body(min_length=1)]

router = APIRouter()


@router.get("/swift/nodes")
@router.get("/registry/nodes")
def list_nodes(services: ServicesDep, records: RecordsDep) -> list[dict[str, Any]]:
    """List all nodes by name."""
    return sorted((_document(records, health) for health in services.nodes.all()), key=lambda node: str(node["name"]))


@router.get("/swift/nodes/{kind}/{name}")
@router.get("/registry/nodes/{name}")
def show_node(services: ServicesDep, records: RecordsDep, name: str, kind: str | None = None) -> dict[str, Any]:
    """Show a node."""
    return _document(records, _node(services, name, kind))


@router.put("/swift/nodes/{kind}/{name}", status_code=201)
@router.put("/registry/nodes/{name}", status_code=201)
def change_node(
    services: ServicesDep, records: RecordsDep, name: str, given: Fields, response: Response, kind: str | None = None
) -> dict[str, Any]:
    """Set the region, the zone and other fields of a node, but no credentials."""
    health = _node(services, name, kind)
    kept = {field: value for field, value in given.items() if field not in _OWN}
    number = _numbers(records).get(name)
    if number is None:
        records.add(RecordKind.NODE, {**kept, "node": name})
    else:
        records.change(RecordKind.NODE, number, kept)
    if set(given) & set(_SSH):
        response.headers.update(warning(["not stored: SSH credentials; set swift_nodes.<name>.restart of zoe-storage"]))
    return _document(records, health)


@router.delete("/swift/nodes/{kind}/{name}", status_code=204)
def delete_node(services: ServicesDep, kind: str, name: str) -> Response:
    """Refuse to remove a node, which is in the settings."""
    _node(services, name, kind)
    raise RequestRefusedError(409, f"{name} is in the settings: remove it from swift_nodes of zoe-storage")


@router.put("/swift/nodes/{kind}/{name}/restart")
@router.put("/registry/nodes/{name}/restart")
def restart(services: ServicesDep, name: str, kind: str | None = None, author: Author = None) -> str:
    """Begin the restart of a node."""
    services.nodes.restarts.begin(_node(services, name, kind).name, author)
    return f"the restart of {name} has begun"


def _node(services: Services, name: str, kind: str | None) -> NodeHealth:
    for health in services.nodes.all():
        if health.name == name and kind in (None, health.kind.value):
            return health
    raise RequestRefusedError(404, f"the store has no {kind or ''} node {name} in the settings of its controller")


def _numbers(records: Records) -> dict[str, int]:
    return {str(one["node"]): number for number, one in records.all(RecordKind.NODE).items()}


def _document(records: Records, health: NodeHealth) -> dict[str, Any]:
    number = _numbers(records).get(health.name)
    given = {} if number is None else records.all(RecordKind.NODE)[number]
    return {
        "region_id": "1",
        "zone_id": "1",
        **{name: value for name, value in given.items() if name != "node"},
        "name": health.name,
        "type": health.kind.value,
        "state": health.state.value,
        "reason": health.reason,
        "devices": {disk.name: asdict(disk) for disk in health.found.disks},
        "ssh_access": False,
    }
