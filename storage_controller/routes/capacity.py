"""Capacity, guarantees of owners, leases and achieved bandwidth, under `/v1`. All in bytes per second.

An owner sees and changes only its own objects; capacity considers all guarantees.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Response

from storage_bridge.model import BandwidthSlo, StorageCapacity, feasibility
from storage_controller.database.guarantee_store import READ, WRITE
from storage_controller.routes.parameters import (
    Demand,
    Lease,
    LedgerDep,
    Name,
    PromisableDep,
    Promise,
    ServicesDep,
    Source,
    Token,
)
from storage_controller.routes.services import PLACES
from zoe_client.wire.storage.controllers import StorageHostingView

router = APIRouter(prefix="/v1")


@router.get("/capacity")
def capacity(ledger: LedgerDep, promisable: PromisableDep) -> dict[str, Any]:
    """Return the total bandwidth that can be guaranteed, and that is."""
    promised = ledger.guarantees_by_tenant().values()
    return {
        "read_bytes_per_s": promisable.capacity.read_bytes_per_s or 0,
        "write_bytes_per_s": promisable.capacity.write_bytes_per_s or 0,
        "promised_read_bytes_per_s": sum(slo.read_bytes_per_s or 0 for slo in promised),
        "promised_write_bytes_per_s": sum(slo.write_bytes_per_s or 0 for slo in promised),
    }


@router.get("/available")
def available(promisable: PromisableDep) -> dict[str, Any]:
    """Return the bandwidth that can be guaranteed while servers of the store are away, and why that is less."""
    rates, why = promisable.now()
    return {**asdict(rates), "why": list(why)}


@router.get("/promised")
def show_guarantees(ledger: LedgerDep) -> dict[str, dict[str, int | None]]:
    """Return the guarantee of each tenant."""
    return {tenant: asdict(slo) for tenant, slo in ledger.guarantees_by_tenant().items()}


@router.get("/proxies")
def proxies(promisable: PromisableDep) -> dict[str, int | None]:
    """Return the bandwidth of the proxies, both ways together; null if the settings do not state it."""
    rates = promisable.proxies.values()
    return {
        "one_proxy_bytes_per_s": max(rates, default=None),
        "proxies_bytes_per_s": sum(rates) if rates else None,
    }


@router.get("/reports")
def reports(services: ServicesDep) -> dict[str, float | None]:
    """Return the seconds since the last report of each proxy and object server; null: never."""
    return _silence({**services.reports.silent_s(), **services.reports.silent_nodes_s()})


@router.get("/unkept")
def show_caveats(promisable: PromisableDep) -> list[str]:
    """Return why guarantees are not enforced at present."""
    return [*promisable.unkept(), *promisable.now()[1]]


@router.get("/hosting")
def hosting(services: ServicesDep) -> dict[str, StorageHostingView]:
    """Return the filters of each proxy, and the seconds since its last report."""
    silent, hosted = _silence(services.reports.silent_s()), services.reports.hosted_by()
    return {
        name: StorageHostingView(silent_s=silent[name], filters=sorted(hosted.get(name, ()))) for name in sorted(silent)
    }


@router.post("/feasible")
def feasible(ledger: LedgerDep, promisable: PromisableDep, demand: Demand) -> dict[str, Any]:
    """Return whether a demand could be guaranteed now, and why not."""
    slo = BandwidthSlo(demand.read_bytes_per_s, demand.write_bytes_per_s)
    return asdict(feasibility(StorageCapacity(**capacity(ledger, promisable)), slo))


@router.get("/owners/{owner}/slos")
def slos(ledger: LedgerDep, owner: str) -> dict[str, dict[str, int | None]]:
    """Return an owner's guarantees, by tenant."""
    found: dict[str, dict[str, int | None]] = {}
    for row in ledger.slos():
        if row["owner"] == owner:
            found.setdefault(row["project_id"], {})[row["slo_name"]] = row["bytes_per_s"]
    return {
        tenant: {"read_bytes_per_s": rates.get(READ), "write_bytes_per_s": rates.get(WRITE)}
        for tenant, rates in found.items()
    }


@router.put("/owners/{owner}/slos/{tenant}", status_code=201)
def set_slo(
    ledger: LedgerDep, promisable: PromisableDep, owner: Name, tenant: Name, promise: Promise, response: Response
) -> Promise:
    """Set an owner's guarantee for a tenant, with its lease."""
    slo = BandwidthSlo(promise.read_bytes_per_s, promise.write_bytes_per_s)
    response.headers.update(promisable.check(tenant, slo))
    promisable.check_alive(slo, BandwidthSlo(**slos(ledger, owner).get(tenant, {})))
    ledger.renew(owner, promise.lease_s)
    rates = {READ: promise.read_bytes_per_s, WRITE: promise.write_bytes_per_s}
    ledger.set_slo(tenant, owner, rates, owner)
    return promise


@router.delete("/owners/{owner}/slos/{tenant}", status_code=204)
def clear_slo(ledger: LedgerDep, owner: str, tenant: str) -> Response:
    """Remove an owner's guarantee for a tenant."""
    ledger.clear_slo(tenant, owner)
    return Response(status_code=204)


@router.put("/owners/{owner}/lease")
def renew(ledger: LedgerDep, owner: Name, lease: Lease) -> dict[str, float]:
    """Renew an owner's lease."""
    return {"until_s": ledger.renew(owner, lease.lease_s)}


@router.get("/achieved")
def show_achieved(services: ServicesDep) -> dict[str, dict[str, float]]:
    """Return the bandwidth of each tenant."""
    return {tenant: asdict(bandwidth) for tenant, bandwidth in services.reports.achieved_by_tenant().items()}


@router.get("/clients")
def clients(services: ServicesDep) -> dict[str, dict[str, float]]:
    """Return the bandwidth of each client address."""
    return {address: asdict(bandwidth) for address, bandwidth in services.reports.clients().items()}


@router.get("/caches")
def caches(services: ServicesDep) -> dict[str, dict[str, dict[str, int]]]:
    """Return the counters of the cache of each proxy."""
    return {
        proxy: {name: {"count": times, "bytes": length} for name, (times, length) in counts.items()}
        for proxy, counts in services.reports.caches().items()
    }


@router.get("/missed")
def show_missed(services: ServicesDep) -> dict[str, dict[str, int]]:
    """Return the shortfall of each tenant's SLO."""
    return {tenant: asdict(bandwidth) for tenant, bandwidth in services.reports.missed_by_tenant().items()}


@router.get("/locality")
def locality(services: ServicesDep, tenant: Name, source: Source, token: Token = "") -> dict[str, Any]:
    """Return where a file or the files of a prefix are stored."""
    return asdict(services.connected_swift(PLACES).places.places(tenant, source, token))


def _silence(seconds: Mapping[str, float]) -> dict[str, float | None]:
    return {name: None if math.isinf(value) else round(value, 2) for name, value in seconds.items()}
