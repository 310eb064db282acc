"""Cores of filters and views by tenant, under `/v1/filter-cores`: what holds, and what admins set."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from storage_controller.answers import Refused
from storage_controller.extensions import Name
from storage_controller.filter_cores import CoresLedger, CpuBounds
from storage_controller.ledger import Ledger
from storage_controller.rule_routes import Author
from storage_controller.settings import CORES_LEAST

CORES_MOST = 1024.0
"""More than a proxy has: no bound."""


class _Wanted(BaseModel):
    model_config = ConfigDict(extra="forbid")

    cores: Annotated[float, Field(ge=CORES_LEAST, le=CORES_MOST, allow_inf_nan=False, strict=True)]


def filter_cores_routes(ledger: Ledger, settings: CpuBounds) -> APIRouter:
    """`/v1/filter-cores`."""
    routes, kept = APIRouter(prefix="/v1/filter-cores"), CoresLedger(ledger)

    @routes.get("")
    def listed() -> list[dict[str, Any]]:
        rows = {row.tenant: row for row in kept.rows()}
        bounds = settings.replaced_by({tenant: row.cores for tenant, row in rows.items()})
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

    @routes.put("/{tenant}", status_code=201)
    def put(tenant: Name, wanted: _Wanted, author: Author = None) -> dict[str, Any]:
        kept.put(tenant, wanted.cores, author)
        return next(one for one in listed() if one["tenant"] == tenant)

    @routes.delete("/{tenant}", status_code=204)
    def delete(tenant: Name) -> Response:
        if not kept.drop(tenant):
            raise Refused(404, f"no cores were set for {tenant}; a setting of zoe-storage is changed in its file")
        return Response(status_code=204)

    return routes
