"""Cores of filters and views by tenant, under `/v1/filter-cores`: what holds, and what admins set."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from storage_controller.answers import Refused
from storage_controller.promises.filter_cores import CoresLedger
from storage_controller.routes.parameters import Author, LedgerDep, Name, ServicesDep
from storage_controller.routes.services import Services
from storage_controller.settings import CORES_LEAST

CORES_MOST = 1024.0
"""More than a proxy has: no bound."""


class _Wanted(BaseModel):
    model_config = ConfigDict(extra="forbid")

    cores: Annotated[float, Field(ge=CORES_LEAST, le=CORES_MOST, allow_inf_nan=False, strict=True)]


router = APIRouter(prefix="/v1/filter-cores")


@router.get("")
def listed(services: ServicesDep) -> list[dict[str, Any]]:
    """List the bounds that hold."""
    return _rows(services)


@router.put("/{tenant}", status_code=201)
def put(services: ServicesDep, tenant: Name, wanted: _Wanted, author: Author = None) -> dict[str, Any]:
    """Set the cores of a tenant, or of all others by `*`."""
    CoresLedger(services.ledger).put(tenant, wanted.cores, author)
    return next(one for one in _rows(services) if one["tenant"] == tenant)


@router.delete("/{tenant}", status_code=204)
def delete(ledger: LedgerDep, tenant: Name) -> Response:
    """Remove what was set for a tenant."""
    if not CoresLedger(ledger).drop(tenant):
        raise Refused(404, f"no cores were set for {tenant}; a setting of zoe-storage is changed in its file")
    return Response(status_code=204)


def _rows(services: Services) -> list[dict[str, Any]]:
    rows = {row.tenant: row for row in CoresLedger(services.ledger).rows()}
    bounds = services.cpu_bounds.replaced_by({tenant: row.cores for tenant, row in rows.items()})
    return [
        {
            "tenant": tenant,
            "cores": cores,
            "standing": tenant in rows,
            "author": rows[tenant].author if tenant in rows else None,
            "at_s": rows[tenant].at_s if tenant in rows else None,
        }
        for tenant, cores in bounds.rows()
    ]
