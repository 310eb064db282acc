"""Rules of the object store: admins write them, users see the rules for the objects of their tenant."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Response

from zoe_api.access.access import AsAdmin, AsReader, check
from zoe_api.http.audit_changes import note_changes
from zoe_api.http.routing import api_router
from zoe_api.questions.bounded import Bound, question
from zoe_api.storage.client import ControllerDep
from zoe_client.wire import (
    StorageRuleList,
    StorageRuleMove,
    StorageRuleMoved,
    StorageRuleRequest,
    StorageRuleTry,
    StorageRuleTryView,
    StorageRuleView,
    StorageWhyView,
)
from zoe_client.wire.storage.rules import ObjectPart
from zoe_client.words.names import FILTER_NAME
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.store.people import Principal

router = api_router("/storage", tag="storage")
_LACKS = "this storage controller has no rules: use zoe-storage"
FilterPath = Annotated[str, Path(min_length=1, max_length=100, pattern=FILTER_NAME)]


@router.get("/rules", response_model=StorageRuleList)
def list_storage_rules(
    _: AsAdmin,
    controller: ControllerDep,
    removed: Annotated[bool, Query(description="List removed rules instead, 500 at most.")] = False,
) -> StorageRuleList:
    """List the object store's rules, with authors and dates."""
    query = {"removed": removed}
    return StorageRuleList(rules=controller.ask(list[StorageRuleView], "GET", "/v1/rules", query=query, lacks=_LACKS))


@router.post("/rules", response_model=StorageRuleList, status_code=201)
def add_storage_rules(body: StorageRuleRequest, caller: AsAdmin, controller: ControllerDep) -> StorageRuleList:
    """Add rules, all of them or none. They apply to objects stored from now on."""
    body.tenant = body.tenant or caller.tenant
    rules = controller.ask(list[StorageRuleView], "POST", "/v1/rules", body, compiles=True)
    return StorageRuleList(rules=rules)


@router.put("/rules/{number}/filters/{name}", response_model=StorageRuleView)
def move_storage_rule(
    number: int, name: FilterPath, body: StorageRuleMove, caller: AsAdmin, controller: ControllerDep
) -> StorageRuleView:
    """Switch a rule to another version of an uploaded filter, by default the newest. The audit log records both
    versions.
    """
    path = f"/v1/rules/{number}/modules/{name}"
    moved = controller.ask(StorageRuleMoved, "PUT", path, body, compiles=True)
    after = sorted({module.sha256 for module in moved.modules if module.name == name.lower()})
    note_changes(caller.request, {name.lower(): ", ".join(moved.was)}, {name.lower(): ", ".join(after)})
    return moved


@router.post("/rules/{number}/restore", response_model=StorageRuleView, status_code=201)
def restore_storage_rule(number: int, _: AsAdmin, controller: ControllerDep) -> StorageRuleView:
    """Restore a removed rule under a new number, with its versions of uploaded filters. A rule that was not on returns
    as a dry run. 409 if such a version was removed.
    """
    return controller.ask(StorageRuleView, "POST", f"/v1/rules/{number}/again", compiles=True)


@router.post("/try", response_model=StorageRuleTryView)
@question(Bound.STEPS_OF_CONTROLLER)
def try_storage_rules(body: StorageRuleTry, caller: AsReader, controller: ControllerDep) -> StorageRuleTryView:
    """Return the filters for an object, now and with these rules added; nothing changes."""
    body.tenant = _tenant(caller.principal, body.tenant)
    return controller.ask(StorageRuleTryView, "POST", "/v1/rules/try", body)


@router.get("/why", response_model=StorageWhyView)
def why_stored(
    caller: AsReader,
    controller: ControllerDep,
    container: Annotated[ObjectPart, Query()],
    name: Annotated[ObjectPart, Query(alias="object")],
    tenant: Annotated[
        str | None, Query(description="Tenant of the object (default: yours). Other tenants need an admin.")
    ] = None,
) -> StorageWhyView:
    """Return the filters of a stored object with their rules, and the filters that would apply now."""
    query = {"tenant": _tenant(caller.principal, tenant), "container": container, "object": name}
    return controller.ask(StorageWhyView, "GET", "/v1/rules/why", query=query)


@router.delete("/rules/{number}", status_code=204)
def remove_storage_rule(number: int, _: AsAdmin, controller: ControllerDep) -> Response:
    """Remove a rule. Objects stored under it stay unchanged and readable."""
    controller.remove(f"/v1/rules/{number}")
    return Response(status_code=204)


def _tenant(principal: Principal, tenant: str | None) -> str:
    if tenant not in (None, principal.tenant):
        check(principal, Scope.ADMIN)
    return tenant or principal.tenant
