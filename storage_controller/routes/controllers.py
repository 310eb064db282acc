"""Controllers under `/v1/controllers`: their modes, the last action of each, and the switches of rules."""

from __future__ import annotations

from fastapi import APIRouter

from storage_controller.database.supervision import Mode
from storage_controller.routes.parameters import ServicesDep
from zoe_client.wire.storage.controllers import StorageControllerRequest, StorageControllerView

router = APIRouter(prefix="/v1/controllers")


@router.get("")
def list_controllers(services: ServicesDep) -> list[StorageControllerView]:
    """List all controllers."""
    return services.controllers.controllers()


@router.get("/{name}")
def show_controller(services: ServicesDep, name: str) -> StorageControllerView:
    """Show a controller with its last switches."""
    return services.controllers.controller(name)


@router.put("/{name}")
def change(services: ServicesDep, name: str, wanted: StorageControllerRequest) -> StorageControllerView:
    """Set the mode of a controller."""
    services.controllers.set_mode(name, Mode(wanted.mode))
    return services.controllers.controller(name)
