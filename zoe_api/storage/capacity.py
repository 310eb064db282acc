"""The object store's bandwidth."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from zoe_api.access.access import AsReader, check
from zoe_api.access.wire_forms import bandwidth_view, known_bandwidth
from zoe_api.billing.spans import FromS, ToS, stretch_of
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import ask
from zoe_api.storage.client import ControllerDep
from zoe_client.wire import (
    BandwidthOverTimeView,
    BandwidthPointView,
    ExecutionBandwidthView,
    StorageTrafficView,
    StorageView,
    StorageWaitView,
)
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.domain.applications.sharing import ALL, ExecutionShares
from zoe_lib.store.people import Principal

router = api_router(tag="storage")
_DIMENSION = "(tenant|key|container|method|proxy|node)"
_BY = f"^{_DIMENSION}(,{_DIMENSION}){{0,5}}$"


@router.get("/storage", response_model=StorageView)
def get_storage(caller: AsReader) -> StorageView:
    """Return capacity, grants, achieved bandwidth and waiting executions; only operators see other tenants."""
    principal = caller.principal
    storage = StorageView(**ask(caller.services.master, "storage", {}, caller.request))
    waiting = caller.store.waiting_for_store(ALL if principal.operator else principal.visibility)
    return storage.model_copy(
        update={
            "tenants": [
                tenant for tenant in storage.tenants if principal.operator or tenant.tenant == principal.tenant
            ],
            "caveats": [
                caveat for caveat in storage.caveats if principal.operator or caveat.tenant == principal.tenant
            ],
            "executions": [execution for execution in storage.executions if may_see(principal, execution)],
            "waiting": [StorageWaitView.model_validate(wait) for wait in waiting],
        }
    )


@router.get("/storage/over-time", response_model=BandwidthOverTimeView)
def storage_over_time(
    caller: AsReader,
    from_s: FromS,
    to_s: ToS = None,
    tenant: Annotated[
        str | None, Query(description="Only this tenant; another tenant than your own needs an operator.")
    ] = None,
) -> BandwidthOverTimeView:
    """Return the average bandwidth that your tenant (or all tenants, for operators) was granted, moved and missed, for
    as long as samples are kept; at most a few hundred intervals of at least 30 s. Intervals without a report of the
    controller are missing.
    """
    until_s = caller.services.clock.now_s() if to_s is None else to_s
    stretch_s = stretch_of(from_s, until_s)
    points = [
        BandwidthPointView(
            tenant=point.tenant,
            at_s=point.at_s,
            granted=bandwidth_view(point.means.granted),
            achieved=known_bandwidth(point.means.achieved),
            missed=known_bandwidth(point.means.missed),
        )
        for point in caller.store.bandwidth_over_time(from_s, until_s, stretch_s, _seen_by(caller.principal, tenant))
    ]
    return BandwidthOverTimeView(from_s=from_s, to_s=until_s, stretch_s=stretch_s, points=points)


@router.get("/storage/traffic", response_model=StorageTrafficView)
def storage_traffic(
    caller: AsReader,
    controller: ControllerDep,
    by: Annotated[
        str,
        Query(
            description="Keys of the sums, with commas: `key` (the access key), without `container` and `node`; "
            "`node`, an object server, without `proxy`.",
            pattern=_BY,
        ),
    ] = "tenant,container,method",
    seconds: Annotated[float, Query(description="Of the last minute.", gt=0, le=60, allow_inf_nan=False)] = 10.0,
    tenant: Annotated[
        str | None, Query(description="Only this tenant; another tenant than your own needs an operator.")
    ] = None,
) -> StorageTrafficView:
    """Return rates of requests at the proxies, or by object server, of your tenant (or all tenants, for operators)."""
    query = {"by": by.split(","), "seconds": seconds, "tenant": _seen_by(caller.principal, tenant)}
    lacks = "this storage controller does not report requests: use zoe-storage"
    return controller.ask(StorageTrafficView, "GET", "/v1/traffic", query=query, lacks=lacks)


def may_see(principal: Principal, one: ExecutionBandwidthView) -> bool:
    """Return whether it is an execution of the principal, or all are visible; shared ones are not listed here."""
    return principal.operator or principal.visibility.includes(ExecutionShares(one.tenant, one.user, {}))


def _seen_by(principal: Principal, tenant: str | None) -> str | None:
    """Return the tenant to report; None for all. 403 for another tenant unless the client is an operator."""
    if tenant not in (None, principal.tenant):
        check(principal, Scope.OPERATE)
    return tenant if principal.operator else principal.tenant
