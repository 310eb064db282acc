"""Requests of executions to the object store, over their life."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Query

from zoe_api.access.access import AsReader, check
from zoe_api.access.visibility import seen_execution
from zoe_api.billing.spans import FromS, ToS, stretch_of
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import Caller
from zoe_api.storage.client import Controller, ControllerDep
from zoe_client.vocabulary import Mark
from zoe_client.wire import (
    ExecutionStorageView,
    ExecutionUsesView,
    StorageHistoryView,
    StorageRequestsView,
    StorageRuleMetView,
    StorageUsesView,
)
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.domain.applications.sharing import ExecutionShares
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.store.errors import NotFound

router = api_router(tag="storage")
_LACKS = "this storage controller keeps no history of executions: it needs a credential for each execution"
_WAYS: Mapping[str, Any] = {"get": "read", "put": "write"}


@router.get("/executions/{execution_id}/storage", response_model=ExecutionStorageView)
def storage_of_execution(execution_id: str, caller: AsReader, controller: ControllerDep) -> ExecutionStorageView:
    """Return an execution's requests to the object store, the rules applied, and its bytes over time; for a week after
    the last request.
    """
    execution = seen_execution(caller, execution_id)
    from_s = execution.marks.get(Mark.PLACED, execution.submitted_at_s)
    to_s = execution.marks.get(Mark.ENDED, caller.services.clock.now_s())
    query = {"execution": execution.id} | _span(from_s, to_s)
    answer = _read_history(controller, caller, query)
    return _view(execution, answer.executions[execution.id], answer.stretch_s)


@router.get("/storage/history", response_model=StorageHistoryView)
def storage_history(
    caller: AsReader,
    controller: ControllerDep,
    from_s: FromS,
    to_s: ToS = None,
    tenant: Annotated[str | None, Query(description="Tenant (default: yours); another one needs an operator.")] = None,
) -> StorageHistoryView:
    """Return the visible executions of a tenant that moved bytes."""
    if tenant not in (None, caller.tenant):
        check(caller.principal, Scope.OPERATE)
    until_s, of = caller.services.clock.now_s() if to_s is None else to_s, tenant or caller.tenant
    query = {"tenant": of} | _span(from_s, until_s)
    answer = _read_history(controller, caller, query)
    found = []
    for name, uses in answer.executions.items():
        try:
            execution = caller.store.execution(name)
        except NotFound:  # removed meanwhile
            continue
        shares = ExecutionShares(execution.tenant, execution.user, {})
        if caller.principal.operator or caller.principal.visibility.includes(shares):
            found.append(_view(execution, uses, answer.stretch_s))
    return StorageHistoryView(from_s=from_s, to_s=until_s, tenant=of, executions=sorted(found, key=_began))


def _read_history(controller: Controller, caller: Caller, query: Mapping[str, Any]) -> StorageUsesView:
    path = f"/v1/owners/{quote(caller.services.settings.storage_owner)}/history"
    return controller.ask(StorageUsesView, "GET", path, query=query, lacks=_LACKS)


def _span(from_s: float, to_s: float) -> dict[str, float]:
    stretch_s = stretch_of(from_s, max(from_s, to_s))
    return {"from_s": max(0.0, from_s - stretch_s), "to_s": to_s, "stretch_s": stretch_s}


def _began(one: ExecutionStorageView) -> tuple[float, str]:
    return one.placed_s or 0.0, one.execution_id


def _view(execution: Execution, answer: ExecutionUsesView, stretch_s: float) -> ExecutionStorageView:
    requests: list[StorageRequestsView] = []
    rules: list[StorageRuleMetView] = []
    cpu_s: dict[tuple[str, str], float] = {}
    for use in answer.uses:
        kind, *parts = use.subject.split("/", 3)
        if kind == "request":
            amounts = use.model_dump(exclude={"subject"})
            requests.append(StorageRequestsView(method=parts[0], container="/".join(parts[1:]), **amounts))
        elif kind == "cpu":
            cpu_s[parts[0], "/".join(parts[1:])] = use.done / 1e6
        else:  # rule/<number>/<filter>/<way> or limit/<way>
            number = int(parts[0]) if kind == "rule" else None
            of = parts[1] if kind == "rule" else "BANDWIDTH"
            way = _WAYS[parts[-1]]
            rules.append(StorageRuleMetView(rule=number, filter=of, way=way, requests=use.done + use.refused))
    return ExecutionStorageView(
        execution_id=execution.id,
        name=execution.name,
        user=execution.user,
        tenant=execution.tenant,
        state=execution.state,
        placed_s=execution.marks.get(Mark.PLACED),
        ended_s=execution.marks.get(Mark.ENDED),
        stretch_s=stretch_s,
        requests=[
            request.model_copy(update={"cpu_s": cpu_s.get((request.method, request.container), 0.0)})
            for request in requests
        ],
        rules=sorted(rules, key=lambda met: (met.rule or 0, met.filter, met.way)),
        points=answer.points,
    )
