"""Cores of filters and views by tenant, under `/v1/filter-cores`: bounds in force, and values of admins."""

from __future__ import annotations

from fastapi import APIRouter, Response

from storage_controller.answers import RequestRefusedError
from storage_controller.promises.filter_cores import CoresLedger
from storage_controller.routes.parameters import Author, LedgerDep, Name, ServicesDep
from storage_controller.routes.services import Services
from zoe_client.wire.storage.cores import StorageCoresRequest, StorageCoresView

router = APIRouter(prefix="/v1/filter-cores")


@router.get("")
def list_bounds(services: ServicesDep) -> list[StorageCoresView]:
    """List the bounds in force."""
    return _views(services)


@router.put("/{tenant}", status_code=201)
def put(services: ServicesDep, tenant: Name, wanted: StorageCoresRequest, author: Author = None) -> StorageCoresView:
    """Set the cores of a tenant, or of all others by `*`."""
    CoresLedger(services.ledger).put(tenant, wanted.cores, author)
    return next(view for view in _views(services) if view.tenant == tenant)


@router.delete("/{tenant}", status_code=204)
def delete(ledger: LedgerDep, tenant: Name) -> Response:
    """Remove an admin's value for a tenant."""
    if not CoresLedger(ledger).drop(tenant):
        raise RequestRefusedError(
            404, f"no cores were set for {tenant}; a setting of zoe-storage is changed in its file"
        )
    return Response(status_code=204)


def _views(services: Services) -> list[StorageCoresView]:
    rows = {row.tenant: row for row in CoresLedger(services.ledger).rows()}
    bounds = services.cpu_bounds.replaced_by({tenant: row.cores for tenant, row in rows.items()})
    return [
        StorageCoresView(
            tenant=tenant,
            cores=cores,
            standing=tenant in rows,
            author=rows[tenant].author if tenant in rows else None,
            at_s=rows[tenant].at_s if tenant in rows else None,
        )
        for tenant, cores in bounds.rows()
    ]
