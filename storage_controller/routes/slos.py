"""Permanent SLOs of tenants, set by an admin, under `/v1/slos`; the list has the SLOs of all owners."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter, Response

from storage_bridge.model import BandwidthSlo
from storage_controller.answers import RequestRefusedError
from storage_controller.database.guarantee_store import READ, WRITE, Ledger
from storage_controller.routes.parameters import LedgerDep, Name, PromisableDep
from zoe_client.wire.storage.slos import StorageSloRequest, StorageSloView

STANDING = "standing"
"""Policy of permanent SLOs in the dialects of Crystal."""
_FIELDS = {READ: "read_bytes_per_s", WRITE: "write_bytes_per_s"}

router = APIRouter(prefix="/v1/slos")


@router.get("")
def list_slos(ledger: LedgerDep) -> list[StorageSloView]:
    """List the SLOs of all owners."""
    return _views(ledger)


@router.put("/{tenant}", status_code=201)
def put(
    ledger: LedgerDep, promisable: PromisableDep, tenant: Name, wanted: StorageSloRequest, response: Response
) -> StorageSloView:
    """Set the given rates; null removes one, and rates that are not given stay."""
    before = _standing(ledger, tenant)
    rates = {name: getattr(before, name, None) for name in _FIELDS.values()} | wanted.model_dump(exclude_unset=True)
    slo = BandwidthSlo(**rates)
    if not wanted.model_fields_set or slo == BandwidthSlo():
        raise RequestRefusedError(400, "an SLO needs a rate to read, to write, or both")
    response.headers.update(promisable.check(tenant, slo))
    ledger.set_slo(tenant, STANDING, {READ: slo.read_bytes_per_s, WRITE: slo.write_bytes_per_s})
    # Another request may have removed it since.
    made = _standing(ledger, tenant) or StorageSloView(
        tenant=tenant,
        standing=True,
        set_by=STANDING,
        read_bytes_per_s=slo.read_bytes_per_s,
        write_bytes_per_s=slo.write_bytes_per_s,
    )
    made.notes = [*promisable.caveats(slo), *_excess_guarantees(ledger, promisable.capacity)]
    return made


@router.delete("/{tenant}", status_code=204)
def delete(ledger: LedgerDep, tenant: str) -> Response:
    """Remove a tenant's standing SLO."""
    if _standing(ledger, tenant) is None:
        raise RequestRefusedError(404, f"{tenant} has no SLO")
    ledger.clear_slo(tenant, STANDING)
    return Response(status_code=204)


def _standing(ledger: Ledger, tenant: str) -> StorageSloView | None:
    return next((view for view in _views(ledger) if (view.tenant, view.standing) == (tenant, True)), None)


def _views(ledger: Ledger) -> list[StorageSloView]:
    found: dict[tuple[str, str], StorageSloView] = {}
    for row in ledger.slos():
        if row["slo_name"] not in _FIELDS:
            continue
        tenant, policy = row["project_id"], row["policy_id"]
        standing = policy == STANDING and row["owner"] is None
        one = StorageSloView(
            tenant=tenant, standing=standing, set_by=policy, read_bytes_per_s=None, write_bytes_per_s=None
        )
        setattr(found.setdefault((tenant, policy), one), _FIELDS[row["slo_name"]], row["bytes_per_s"])
    return list(found.values())


def _excess_guarantees(ledger: Ledger, capacity: BandwidthSlo) -> Iterator[str]:
    """Yield a sentence for each direction in which the guarantees exceed the store's capacity."""
    promised = ledger.guarantees_by_tenant().values()
    for way, most, rates in (
        ("read", capacity.read_bytes_per_s or 0, [slo.read_bytes_per_s for slo in promised]),
        ("write", capacity.write_bytes_per_s or 0, [slo.write_bytes_per_s for slo in promised]),
    ):
        total = sum(rate or 0 for rate in rates)
        if total > most:
            yield (
                f"{total / 1e6:g} MB/s to {way} are guaranteed in total, of {most / 1e6:g}: tenants that {way} at "
                "once get less than their guarantee"
            )
