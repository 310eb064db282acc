"""Extensions under `/v1`: capacity, feasibility, leases, achieved bandwidth, views. All in bytes per second."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, replace
from typing import Annotated, Any, NoReturn

from fastapi import APIRouter, Header, Response
from pydantic import BaseModel, Field, StringConstraints

from storage_bridge.model import (
    RATE_MAX,
    TOKEN_HEADER,
    AchievedBandwidth,
    BandwidthSlo,
    MissedBandwidth,
    StorageCapacity,
    View,
    ViewSample,
    feasibility,
)
from storage_controller.answers import Promisable, Refused
from storage_controller.contents import Contents
from storage_controller.controller_routes import Active
from storage_controller.filter_cores import CpuBounds
from storage_controller.kept_views import KeptViews
from storage_controller.ledger import READ, WRITE, Ledger
from storage_controller.metric_routes import Readings
from storage_controller.node_restarts import NodeRestarts
from storage_controller.node_routes import StoreNodes
from storage_controller.rule_routes import Done
from storage_controller.storage_policies import PolicyMaker
from storage_controller.supervision import Supervisor
from storage_controller.swift_objects import SwiftObjects
from storage_controller.swift_places import SwiftPlaces
from storage_controller.traffic import Traffic
from storage_filters.records import KINDS

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


def _not_told(tenant: str, container: str, object_name: str) -> NoReturn:  # noqa: ARG001
    raise Refused(409, "cannot tell what was done with objects: the controller is not connected to Swift")


class Works:
    """The services that the routes use besides the ledger."""

    def __init__(
        self,
        promisable: Promisable,
        achieved: Callable[[], Mapping[str, AchievedBandwidth]],
        missed: Callable[[], Mapping[str, MissedBandwidth]],
        views: KeptViews,
        sample_view: Callable[[View], ViewSample],
        places: SwiftPlaces | None = None,
        clients: Callable[[], Mapping[str, AchievedBandwidth]] = dict,
        achieved_by_execution: Callable[[], Mapping[str, AchievedBandwidth]] = dict,
        counts_transfers: Callable[[], bool] = lambda: False,
        done: Done = _not_told,
        hosted: Callable[[], Collection[str]] = lambda: KINDS,
        traffic: Traffic | None = None,
        of_signers: Traffic | None = None,
        of_nodes: Traffic | None = None,
        caches: Callable[[], Mapping[str, Mapping[str, tuple[int, int]]]] = dict,
        silent_s: Callable[[], Mapping[str, float]] = dict,
        silent_nodes_s: Callable[[], Mapping[str, float]] = dict,
        metrics: Callable[[], Mapping[int, Mapping[str, float]]] = dict,
        objects: SwiftObjects | None = None,
        rewrite_bytes_per_s: int = 20_000_000,
        supervisor: Supervisor | None = None,
        active: Active = dict,
        readings: Readings = dict,
        prometheus_url: str | None = None,
        hosted_by: Callable[[], Mapping[str, Collection[str]]] = dict,
        nodes: StoreNodes | None = None,
        replication_bytes_per_s: int | None = None,
        cpu_bounds: CpuBounds | None = None,
        policy_maker: PolicyMaker | None = None,
        contents: Contents | None = None,
    ) -> None:
        self.promisable = promisable
        self.achieved = achieved
        self.missed = missed
        self.views = views
        self.sample_view = sample_view
        self.places = places
        self.clients = clients
        self.achieved_by_execution = achieved_by_execution
        self.counts_transfers = counts_transfers
        self.done = done
        self.hosted = hosted
        self.traffic, self.of_signers, self.of_nodes = (one or Traffic(str) for one in (traffic, of_signers, of_nodes))
        self.caches = caches
        self.silent_s = silent_s
        self.silent_nodes_s = silent_nodes_s
        self.metrics = metrics
        self.supervisor = supervisor or Supervisor()
        self.active = active
        self.readings = readings
        self.prometheus_url = prometheus_url
        self.hosted_by = hosted_by
        self.objects = objects
        self.replication_bytes_per_s = replication_bytes_per_s
        self.cpu_bounds = cpu_bounds or CpuBounds()
        self.contents = contents or Contents(str)
        self.policy_maker = policy_maker or PolicyMaker((), 1.0)
        self.nodes = nodes or StoreNodes(list, NodeRestarts({}, 1.0))
        self.rewrite_bytes_per_s = rewrite_bytes_per_s


def extension_routes(ledger: Ledger, works: Works) -> APIRouter:
    """Return everything under `/v1`. An owner sees and changes only its own objects; all promises are counted."""
    routes = APIRouter(prefix="/v1")

    @routes.get("/capacity")
    def capacity() -> dict[str, Any]:
        promised = ledger.by_tenant().values()
        return {
            "read_bytes_per_s": works.promisable.capacity.read_bytes_per_s or 0,
            "write_bytes_per_s": works.promisable.capacity.write_bytes_per_s or 0,
            "promised_read_bytes_per_s": sum(slo.read_bytes_per_s or 0 for slo in promised),
            "promised_write_bytes_per_s": sum(slo.write_bytes_per_s or 0 for slo in promised),
        }

    @routes.get("/promised")
    def promised() -> dict[str, dict[str, int | None]]:
        return {tenant: asdict(slo) for tenant, slo in ledger.by_tenant().items()}

    @routes.get("/proxies")
    def proxies() -> dict[str, int | None]:
        rates = works.promisable.proxies.values()
        return {
            "one_proxy_bytes_per_s": max(rates, default=None),
            "proxies_bytes_per_s": sum(rates) if rates else None,
        }

    @routes.get("/reports")
    def reports() -> dict[str, float | None]:
        return _silence({**works.silent_s(), **works.silent_nodes_s()})

    @routes.get("/unkept")
    def unkept() -> list[str]:
        return list(works.promisable.unkept())

    @routes.get("/hosting")
    def hosting() -> dict[str, dict[str, Any]]:
        silent, hosted = _silence(works.silent_s()), works.hosted_by()
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
        response.headers.update(works.promisable.check(tenant, slo))
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
        return {tenant: asdict(one) for tenant, one in works.achieved().items()}

    @routes.get("/clients")
    def clients() -> dict[str, dict[str, float]]:
        return {address: asdict(one) for address, one in works.clients().items()}

    @routes.get("/caches")
    def caches() -> dict[str, dict[str, dict[str, int]]]:
        return {
            proxy: {name: {"count": times, "bytes": length} for name, (times, length) in counts.items()}
            for proxy, counts in works.caches().items()
        }

    @routes.get("/missed")
    def missed() -> dict[str, dict[str, int]]:
        return {tenant: asdict(one) for tenant, one in works.missed().items()}

    @routes.get("/locality")
    def locality(tenant: Name, source: Source, token: Token = "") -> dict[str, Any]:
        return asdict(told_places(works).places(tenant, source, token))

    add_views(routes, ledger, works)
    return routes


def locality_routes(works: Works) -> APIRouter:
    """Swift's own answer for a name, in both dialects; an object's path may contain slashes and end with one."""
    routes = APIRouter()

    @routes.get("/swift/locality/{account}/{path:path}")
    def locality(account: str, path: str) -> Mapping[str, Any]:
        return told_places(works).endpoints(account, path.removesuffix("/"))

    return routes


def told_places(works: Works) -> SwiftPlaces:
    """Return what Swift is asked by; Refused if the controller is not connected to it."""
    if works.places is None:
        raise Refused(409, "cannot tell where objects lie: the controller is not connected to Swift")
    return works.places


def add_views(routes: APIRouter, ledger: Ledger, works: Works) -> None:
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
        works.views.create(view, owner)
        return {"id": view_id}

    @routes.post("/owners/{owner}/views/{view_id}/sample")
    def sample(owner: str, view_id: str, token: Token = "") -> dict[str, Any]:
        found = next((view for view in ledger.views(owner) if view.id == view_id), None)
        if found is None:
            raise Refused(404, f"there is no view {view_id}")
        return asdict(works.sample_view(replace(found, token=token)))

    @routes.delete("/owners/{owner}/views/{view_id}", status_code=204)
    def drop_view(owner: str, view_id: str) -> Response:
        works.views.drop(view_id, owner)
        return Response(status_code=204)


def _silence(seconds: Mapping[str, float]) -> dict[str, float | None]:
    return {name: None if math.isinf(one) else round(one, 2) for name, one in seconds.items()}
