"""Access control of Crystal, which Zoe does not have: users share containers by Swift's own ACLs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from storage_controller.answers import RequestRefusedError

PATH = "/policies/acl"
_WAY_ON = "zoe-storage has no access control of its own: set X-Container-Read or X-Container-Write in Swift"

router = APIRouter()


@router.get(PATH)
def list_rights() -> list[dict[str, Any]]:
    """Return that there are none."""
    return []


@router.post(PATH)
@router.put(PATH + "/{name}")
def refuse() -> None:
    """Refuse to set a right, since nothing would enforce it."""
    raise RequestRefusedError(409, _WAY_ON)


@router.get(PATH + "/{name}")
def show_right(name: str) -> None:
    """Return that it does not exist."""
    raise RequestRefusedError(404, f"access policy {name} does not exist: {_WAY_ON}")


@router.delete(PATH + "/{name}")
def remove_right(name: str) -> str:
    """Return that it does not exist any more."""
    return f"access policy {name} does not exist"
