"""SLOs that an admin gives to tenants for good, under `/v1/slos`; listed are those of all owners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, Response

from storage_bridge.model import BandwidthSlo
from storage_controller.answers import Refused
from storage_controller.database.ledger import READ, WRITE, Ledger
from storage_controller.routes.parameters import Demand, LedgerDep, Name, PromisableDep

STANDING = "standing"
"""Their policy in the dialects of Crystal."""
_FIELDS = {READ: "read_bytes_per_s", WRITE: "write_bytes_per_s"}


router = APIRouter(prefix="/v1/slos")


@router.get("")
def listed(ledger: LedgerDep) -> list[dict[str, Any]]:
    """List the SLOs of all owners."""
    return _rows(ledger)


@router.put("/{tenant}", status_code=201)
def put(
    ledger: LedgerDep, promisable: PromisableDep, tenant: Name, wanted: Demand, response: Response
) -> dict[str, Any]:
    """Set the rates that are named; null removes one, and what is not named stays."""
    before = next((one for one in _rows(ledger) if (one["tenant"], one["standing"]) == (tenant, True)), {})
    rates = {name: before.get(name) for name in _FIELDS.values()} | wanted.model_dump(exclude_unset=True)
    slo = BandwidthSlo(**rates)
    if not wanted.model_fields_set or slo == BandwidthSlo():
        raise Refused(400, "an SLO needs a rate to read, to write, or both")
    response.headers.update(promisable.check(tenant, slo))
    ledger.set_slo(tenant, STANDING, {READ: slo.read_bytes_per_s, WRITE: slo.write_bytes_per_s})
    made = next(one for one in _rows(ledger) if (one["tenant"], one["standing"]) == (tenant, True))
    return made | {"notes": [*promisable.caveats(slo), *_beyond(ledger, promisable.capacity)]}


@router.delete("/{tenant}", status_code=204)
def delete(ledger: LedgerDep, tenant: str) -> Response:
    """Remove a tenant's standing SLO."""
    if not any((one["tenant"], one["standing"]) == (tenant, True) for one in _rows(ledger)):
        raise Refused(404, f"{tenant} has no standing SLO")
    ledger.clear_slo(tenant, STANDING)
    return Response(status_code=204)


def _rows(ledger: Ledger) -> list[dict[str, Any]]:
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in ledger.slos():
        if row["slo_name"] not in _FIELDS:
            continue
        tenant, policy = row["project_id"], row["policy_id"]
        empty = {"tenant": tenant, "standing": policy == STANDING and row["owner"] is None, "set_by": policy}
        one = found.setdefault((tenant, policy), empty | dict.fromkeys(_FIELDS.values()))
        one[_FIELDS[row["slo_name"]]] = row["bytes_per_s"]
    return list(found.values())


def _beyond(ledger: Ledger, capacity: BandwidthSlo) -> Iterator[str]:
    """Yield what is promised beyond what the store can promise."""
    promised = ledger.by_tenant().values()
    for way, most, rates in (
        ("read", capacity.read_bytes_per_s or 0, [one.read_bytes_per_s for one in promised]),
        ("write", capacity.write_bytes_per_s or 0, [one.write_bytes_per_s for one in promised]),
    ):
        total = sum(rate or 0 for rate in rates)
        if total > most:
            yield (
                f"{total / 1e6:g} MB/s to {way} are promised in all, of {most / 1e6:g}: tenants that {way} at once get "
                "less than they are promised"
            )
