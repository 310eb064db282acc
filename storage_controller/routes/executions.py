"""Executions of an owner: each has a credential for its tenant's account, and may have a guarantee.

A guarantee ends with the owner's lease. The credential does not: executions continue while the owner is away. It ends
when the owner removes the execution. Its transfers are settled then, and listed until the owner forgets them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field, StringConstraints

from storage_bridge.model import AchievedBandwidth, BandwidthSlo, StoreExecution, TransferTotals
from storage_controller.answers import RequestRefusedError
from storage_controller.database.guarantee_store import Ledger
from storage_controller.routes.parameters import LedgerDep, Name, Promise, ServicesDep
from storage_controller.routes.services import Services
from storage_filters.execution_auth.names import EXECUTION_ID

ExecutionName = Annotated[str, StringConstraints(pattern=f"^{EXECUTION_ID}$")]
_NOTHING = AchievedBandwidth(0.0, 0.0)


class WantedExecution(Promise):
    """An execution of a tenant, with an optional guarantee, and the owner's lease."""

    tenant: Annotated[Name, Field(description="Tenant whose account it uses.")]


router = APIRouter(prefix="/v1/owners/{owner}/executions")


@router.get("")
def list_executions(ledger: LedgerDep, services: ServicesDep, owner: str) -> dict[str, dict[str, Any]]:
    """List an owner's executions with their bandwidth and transfers."""
    told = _reports_of(ledger, services, owner)
    return {
        execution.id: _execution_document(execution, *told)
        for execution in ledger.executions()
        if execution.owner == owner
    }


@router.get("/{execution}")
def show_execution(ledger: LedgerDep, services: ServicesDep, owner: str, execution: str) -> dict[str, Any]:
    """Show one of an owner's executions."""
    for entry in ledger.executions():
        if (entry.owner, entry.id) == (owner, execution):
            return _execution_document(entry, *_reports_of(ledger, services, owner))
    raise RequestRefusedError(404, f"execution {execution} does not exist")


@router.put("/{execution}", status_code=201)
def put(
    ledger: LedgerDep,
    services: ServicesDep,
    owner: Name,
    execution: ExecutionName,
    wanted: WantedExecution,
    response: Response,
) -> dict[str, Any]:
    """Store an execution; the answer has its credential."""
    assert services.keys is not None, "without keys, this route does not exist"
    slo = BandwidthSlo(wanted.read_bytes_per_s, wanted.write_bytes_per_s)
    if slo != BandwidthSlo():
        response.headers.update(services.promisable.check(wanted.tenant, slo))
    ledger.renew(owner, wanted.lease_s)
    kept = ledger.keep_execution(StoreExecution(execution, wanted.tenant, slo, owner))
    if kept is None:
        raise RequestRefusedError(409, f"execution {execution} belongs to another owner or tenant")
    return {
        **_execution_document(kept, {}, {}, False),
        **services.keys.credential(kept.tenant, kept.id, kept.generation),
    }


@router.delete("/{execution}", status_code=204)
def drop(ledger: LedgerDep, owner: str, execution: str) -> Response:
    """End the credential and the guarantee of an execution."""
    ledger.drop_execution(owner, execution)
    return Response(status_code=204)


_Known = tuple[Mapping[str, AchievedBandwidth], Mapping[str, TransferTotals], bool]


def _reports_of(ledger: Ledger, services: Services, owner: str) -> _Known:
    return services.reports.achieved_by_execution(), ledger.transfers(owner), services.reports.counts_transfers()


def _execution_document(
    one: StoreExecution,
    achieved: Mapping[str, AchievedBandwidth],
    moved_by: Mapping[str, TransferTotals],
    counting: bool,
) -> dict[str, Any]:
    moved, totals = achieved.get(one.id, _NOTHING), moved_by.get(one.id, TransferTotals() if counting else None)
    return {
        "tenant": one.tenant,
        "generation": one.generation,
        "read_bytes_per_s": one.slo.read_bytes_per_s,
        "write_bytes_per_s": one.slo.write_bytes_per_s,
        "achieved_read_bytes_per_s": moved.read_bytes_per_s,
        "achieved_write_bytes_per_s": moved.write_bytes_per_s,
        "totals": None if totals is None else asdict(totals),
    }
