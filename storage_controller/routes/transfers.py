"""Transfers with credentials of ended executions, under `/v1/owners/{owner}/transfers`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from storage_controller.routes.parameters import LedgerDep

router = APIRouter(prefix="/v1/owners/{owner}/transfers")


@router.get("")
def list_ended(ledger: LedgerDep, owner: str) -> list[dict[str, Any]]:
    """List the transfers with ended credentials."""
    return [asdict(transfer) for transfer in ledger.ended_transfers(owner)]


@router.delete("/{generation}", status_code=204)
def forget(ledger: LedgerDep, owner: str, generation: Annotated[int, Path(ge=0, lt=2**63)]) -> Response:
    """Forget the transfers with a credential."""
    ledger.forget_transfers(owner, generation)
    return Response(status_code=204)
