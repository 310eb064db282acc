"""Extensions under `/v1`: capacity, feasibility, leases, achieved bandwidth, views. All in bytes per second."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Annotated, Any

from fastapi import APIRouter, Header, Response
from pydantic import BaseModel, Field, StringConstraints

from storage_bridge.model import (
    RATE_MAX,
    TOKEN_HEADER,
    BandwidthSlo,
    StorageCapacity,
    View,
    feasibility,
)
from storage_controller.answers import Refused
from storage_controller.ledger import READ, WRITE, Ledger
from storage_controller.services import Services
from storage_controller.storage_policies import NewStoragePolicy

PLACES = "tell where objects lie"
LEASE_S_MAX = 7 * 86400.0
Rate = Annotated[int, Field(gt=0, le=RATE_MAX, strict=True)]
_NO_NUL = r"^[^\x00]*$"  # PostgreSQL cannot store these characters in a text
Text = Annotated[str, StringConstraints(max_length=4096, pattern=_NO_NUL)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=r"^[^\s\x00-\x1f#:/]+$")]
Source = Annotated[str, StringConstraints(min_length=1, max_length=2048, pattern=_NO_NUL)]


Token = Annotated[str, Header(alias=TOKEN_HEADER, max_length=8192, description="Token of the view's tenant.")]


class Demand(BaseModel):
    """A rate each way; none means no promise."""

    read_bytes_per_s: Rate | None = None
    write_bytes_per_s: Rate | None = None


class Lease(BaseModel):
    """The owner, and how long the lease holds without being renewed."""

    lease_s: Annotated[float, Field(gt=0, le=LEASE_S_MAX, allow_inf_nan=False)]


class Promise(Demand, Lease):
    """An SLO with its lease."""


class WantedView(Lease):
    """A view with its lease."""

    tenant: Name
    source: Source
    columns: Annotated[list[Text], Field(max_length=4096)] = []
    where: Annotated[str, StringConstraints(max_length=4096, pattern=_NO_NUL)] | None = None
    types: Annotated[dict[Text, Text], Field(max_length=4096)] = {}
    names: Annotated[list[Text], Field(max_length=4096)] = []
    csv: Annotated[dict[Text, Text | bool], Field(max_length=16)] = {}


def extension_routes(ledger: Ledger, services: Services) -> APIRouter:
    """Return everything under `/v1`. An owner sees and changes only its own objects; all promises are counted."""
    routes = APIRouter(prefix="/v1")

    @routes.get("/capacity")
    def capacity() -> dict[str, Any]:
        promised = ledger.by_tenant().values()
        return {
            "read_bytes_per_s": services.promisable.capacity.read_bytes_per_s or 0,
            "write_bytes_per_s": services.promisable.capacity.write_bytes_per_s or 0,
            "promised_read_bytes_per_s": sum(slo.read_bytes_per_s or 0 for slo in promised),
            "promised_write_bytes_per_s": sum(slo.write_bytes_per_s or 0 for slo in promised),
        }

    @routes.get("/promised")
    def promised() -> dict[str, dict[str, int | None]]:
        return {tenant: asdict(slo) for tenant, slo in ledger.by_tenant().items()}

    @routes.get("/proxies")
    def proxies() -> dict[str, int | None]:
        rates = services.promisable.proxies.values()
        return {
            "one_proxy_bytes_per_s": max(rates, default=None),
            "proxies_bytes_per_s": sum(rates) if rates else None,
        }

    @routes.get("/reports")
    def reports() -> dict[str, float | None]:
        return _silence({**services.reports.silent_s(), **services.reports.silent_nodes_s()})

    @routes.get("/unkept")
    def unkept() -> list[str]:
        return list(services.promisable.unkept())

    @routes.get("/hosting")
    def hosting() -> dict[str, dict[str, Any]]:
        silent, hosted = _silence(services.reports.silent_s()), services.reports.hosted_by()
        return {name: {"silent_s": silent[name], "filters": sorted(hosted.get(name, ()))} for name in sorted(silent)}

    @routes.post("/feasible")
    def feasible(demand: Demand) -> dict[str, Any]:
        slo = BandwidthSlo(demand.read_bytes_per_s, demand.write_bytes_per_s)
        return asdict(feasibility(StorageCapacity(**capacity()), slo))

    @routes.get("/owners/{owner}/slos")
    def slos(owner: str) -> dict[str, dict[str, int | None]]:
        found: dict[str, dict[str, int | None]] = {}
        for row in ledger.slos():
            if row["owner"] == owner:
                found.setdefault(row["project_id"], {})[row["slo_name"]] = row["bytes_per_s"]
        return {
            tenant: {"read_bytes_per_s": rates.get(READ), "write_bytes_per_s": rates.get(WRITE)}
            for tenant, rates in found.items()
        }

    @routes.put("/owners/{owner}/slos/{tenant}", status_code=201)
    def set_slo(owner: Name, tenant: Name, promise: Promise, response: Response) -> Promise:
        slo = BandwidthSlo(promise.read_bytes_per_s, promise.write_bytes_per_s)
        response.headers.update(services.promisable.check(tenant, slo))
        ledger.renew(owner, promise.lease_s)
        rates = {READ: promise.read_bytes_per_s, WRITE: promise.write_bytes_per_s}
        ledger.set_slo(tenant, owner, rates, owner)
        return promise

    @routes.delete("/owners/{owner}/slos/{tenant}", status_code=204)
    def clear_slo(owner: str, tenant: str) -> Response:
        ledger.clear_slo(tenant, owner)
        return Response(status_code=204)

    @routes.put("/owners/{owner}/lease")
    def renew(owner: Name, lease: Lease) -> dict[str, float]:
        return {"until_s": ledger.renew(owner, lease.lease_s)}

    @routes.get("/achieved")
    def achieved() -> dict[str, dict[str, float]]:
        return {tenant: asdict(one) for tenant, one in services.reports.achieved().items()}

    @routes.get("/clients")
    def clients() -> dict[str, dict[str, float]]:
        return {address: asdict(one) for address, one in services.reports.clients().items()}

    @routes.get("/caches")
    def caches() -> dict[str, dict[str, dict[str, int]]]:
        return {
            proxy: {name: {"count": times, "bytes": length} for name, (times, length) in counts.items()}
            for proxy, counts in services.reports.caches().items()
        }

    @routes.get("/missed")
    def missed() -> dict[str, dict[str, int]]:
        return {tenant: asdict(one) for tenant, one in services.reports.missed().items()}

    @routes.get("/locality")
    def locality(tenant: Name, source: Source, token: Token = "") -> dict[str, Any]:
        return asdict(services.connected(PLACES).places.places(tenant, source, token))

    add_views(routes, ledger, services)
    return routes


def locality_routes(services: Services) -> APIRouter:
    """Swift's own answer for a name, in both dialects; an object's path may contain slashes and end with one."""
    routes = APIRouter()

    @routes.get("/swift/locality/{account}/{path:path}")
    def locality(account: str, path: str) -> Mapping[str, Any]:
        return services.connected(PLACES).places.endpoints(account, path.removesuffix("/"))

    return routes


def storage_policy_routes(services: Services) -> APIRouter:
    """`/swift/storage_policies` and `/swift/spolicies`."""
    routes = APIRouter()

    @routes.get("/swift/storage_policies")
    def policies() -> list[Mapping[str, Any]]:
        return services.connected(PLACES).places.storage_policies()

    @routes.post("/swift/spolicies", status_code=201)
    def make(wanted: NewStoragePolicy) -> str:
        return services.policies.make(wanted)

    return routes


def add_views(routes: APIRouter, ledger: Ledger, services: Services) -> None:
    """Add the routes of an owner's views."""

    @routes.get("/owners/{owner}/views")
    def views(owner: str) -> list[dict[str, Any]]:
        return [
            {"id": v.id, "tenant": v.tenant, "source": v.source, "columns": list(v.columns), "where": v.where}
            | v.reading()
            for v in ledger.views(owner)
        ]

    @routes.put("/owners/{owner}/views/{view_id}", status_code=201)
    def create_view(owner: Name, view_id: Name, wanted: WantedView, token: Token = "") -> dict[str, str]:
        reading = View.read_as(wanted.model_dump())
        view = View(view_id, wanted.tenant, wanted.source, tuple(wanted.columns), wanted.where, token=token, **reading)
        ledger.renew(owner, wanted.lease_s)
        services.views.create(view, owner)
        return {"id": view_id}

    @routes.post("/owners/{owner}/views/{view_id}/sample")
    def sample(owner: str, view_id: str, token: Token = "") -> dict[str, Any]:
        found = next((view for view in ledger.views(owner) if view.id == view_id), None)
        if found is None:
            raise Refused(404, f"there is no view {view_id}")
        return asdict(services.connected("sample a view").sample(replace(found, token=token)))

    @routes.delete("/owners/{owner}/views/{view_id}", status_code=204)
    def drop_view(owner: str, view_id: str) -> Response:
        services.views.drop(view_id, owner)
        return Response(status_code=204)


def _silence(seconds: Mapping[str, float]) -> dict[str, float | None]:
    return {name: None if math.isinf(one) else round(one, 2) for name, one in seconds.items()}
