"""Rules of the object store: admins write them, users see what holds for the objects of their tenant."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query, Request, Response

from zoe_api.access.access import Admin, Reader, check
from zoe_api.http.audit_changes import note_changes
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import MasterDep, ask
from zoe_client.wire import (
    StorageRuleList,
    StorageRuleMove,
    StorageRuleRequest,
    StorageRuleTry,
    StorageRuleTryView,
    StorageRuleView,
    StorageWhyView,
)
from zoe_client.wire.storage_rules import ObjectPart
from zoe_client.words.names import FILTER_NAME
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.store.people import Principal

router = api_router("/storage", tag="storage")
_KIND = "storage_rules"
FilterPath = Annotated[str, Path(min_length=1, max_length=100, pattern=FILTER_NAME)]


@router.get("/rules", response_model=StorageRuleList)
def list_storage_rules(
    _: Admin,
    master: MasterDep,
    request: Request,
    removed: Annotated[bool, Query(description="Those that were removed instead, 500 at most.")] = False,
) -> StorageRuleList:
    """List the object store's rules, with who wrote them and when."""
    return StorageRuleList(**ask(master, _KIND, {"do": "rules", "removed": removed}, request))


@router.post("/rules", response_model=StorageRuleList, status_code=201)
def add_storage_rules(
    body: StorageRuleRequest, principal: Admin, master: MasterDep, request: Request
) -> StorageRuleList:
    """Add rules, all of them or none. They hold for objects that are stored from now on."""
    asked = body.model_dump() | {"do": "add", "tenant": body.tenant or principal.tenant, "author": principal.user}
    return StorageRuleList(**ask(master, _KIND, asked, request, principal.user))


@router.put("/rules/{number}/filters/{name}", response_model=StorageRuleView)
def move_storage_rule(
    number: int, name: FilterPath, body: StorageRuleMove, principal: Admin, master: MasterDep, request: Request
) -> StorageRuleView:
    """Let a rule run another version of an uploaded filter, by default the newest. The audit log has both versions."""
    asked = {"do": "move", "number": number, "name": name, "sha256": body.sha256, "author": principal.user}
    answer = ask(master, _KIND, asked, request, principal.user)
    moved = StorageRuleView(**answer["rule"])
    after = sorted({one.sha256 for one in moved.modules if one.name == name.lower()})
    note_changes(request, {name.lower(): ", ".join(answer["was"])}, {name.lower(): ", ".join(after)})
    return moved


@router.post("/rules/{number}/restore", response_model=StorageRuleView, status_code=201)
def restore_storage_rule(number: int, principal: Admin, master: MasterDep, request: Request) -> StorageRuleView:
    """Add a removed rule again under a new number, with the versions of uploaded filters that it ran. One that was not
    on is judged only. 409 if such a version was removed."""
    asked = {"do": "restore", "number": number, "author": principal.user}
    return StorageRuleView(**ask(master, _KIND, asked, request, principal.user)["rule"])


@router.post("/try", response_model=StorageRuleTryView)
def try_storage_rules(
    body: StorageRuleTry, principal: Reader, master: MasterDep, request: Request
) -> StorageRuleTryView:
    """Return what holds for an object, now and with these rules beside; nothing changes."""
    asked: dict[str, Any] = body.model_dump() | {"do": "try", "tenant": _tenant(principal, body.tenant)}
    return StorageRuleTryView(**ask(master, _KIND, asked, request, principal.user))


@router.get("/why", response_model=StorageWhyView)
def why_stored(
    principal: Reader,
    master: MasterDep,
    request: Request,
    container: Annotated[ObjectPart, Query()],
    name: Annotated[ObjectPart, Query(alias="object")],
    tenant: Annotated[str | None, Query(description="Of the object; default: yours. Others need an admin.")] = None,
) -> StorageWhyView:
    """Return which filters a stored object went through, by which rules, and what would hold for it now."""
    asked = {"do": "why", "tenant": _tenant(principal, tenant), "container": container, "object": name}
    return StorageWhyView(**ask(master, _KIND, asked, request, principal.user))


@router.delete("/rules/{number}", status_code=204)
def remove_storage_rule(number: int, principal: Admin, master: MasterDep, request: Request) -> Response:
    """Remove a rule. Objects that were stored by it stay as they are, and are read as before."""
    ask(master, _KIND, {"do": "remove", "number": number, "author": principal.user}, request, principal.user)
    return Response(status_code=204)


def _tenant(principal: Principal, tenant: str | None) -> str:
    if tenant not in (None, principal.tenant):
        check(principal, Scope.ADMIN)
    return tenant or principal.tenant
