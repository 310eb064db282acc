"""Controllers under `/v1/controllers`: their modes, what each did last, and when rules were switched."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from storage_controller.database.supervision import Mode
from storage_controller.routes.parameters import ServicesDep


class WantedMode(BaseModel):
    """The mode of a controller."""

    mode: Mode


router = APIRouter(prefix="/v1/controllers")


@router.get("")
def listed(services: ServicesDep) -> list[dict[str, Any]]:
    """List all controllers."""
    return services.controllers.all()


@router.get("/{name}")
def shown(services: ServicesDep, name: str) -> dict[str, Any]:
    """Show a controller with its last switches."""
    return services.controllers.one(name)


@router.put("/{name}")
def change(services: ServicesDep, name: str, wanted: WantedMode) -> dict[str, Any]:
    """Set the mode of a controller."""
    services.controllers.set_mode(name, wanted.mode)
    return services.controllers.one(name)
