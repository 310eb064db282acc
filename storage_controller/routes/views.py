"""Views of owners, under `/v1/owners/{owner}/views`."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field, StringConstraints

from storage_bridge.model import View
from storage_controller.answers import RequestRefusedError
from storage_controller.routes.parameters import NO_NUL, Lease, LedgerDep, Name, ServicesDep, Source, Text, Token


class WantedView(Lease):
    """A view with its lease."""

    tenant: Name
    source: Source
    columns: Annotated[list[Text], Field(max_length=4096, default_factory=list)]
    where: Annotated[str, StringConstraints(max_length=4096, pattern=NO_NUL)] | None = None
    types: Annotated[dict[Text, Text], Field(max_length=4096, default_factory=dict)]
    names: Annotated[list[Text], Field(max_length=4096, default_factory=list)]
    csv: Annotated[dict[Text, Text | bool], Field(max_length=16, default_factory=dict)]


router = APIRouter(prefix="/v1/owners/{owner}/views")


@router.get("")
def views(ledger: LedgerDep, owner: str) -> list[dict[str, Any]]:
    """List an owner's views."""
    return [
        {"id": v.id, "tenant": v.tenant, "source": v.source, "columns": list(v.columns), "where": v.where} | v.reading()
        for v in ledger.views(owner)
    ]


@router.put("/{view_id}", status_code=201)
def create_view(
    ledger: LedgerDep, services: ServicesDep, owner: Name, view_id: Name, wanted: WantedView, token: Token = ""
) -> dict[str, str]:
    """Create a view with the owner's lease."""
    reading = View.read_as(wanted.model_dump())
    view = View(view_id, wanted.tenant, wanted.source, tuple(wanted.columns), wanted.where, token=token, **reading)
    ledger.renew(owner, wanted.lease_s)
    services.views.create(view, owner)
    return {"id": view_id}


@router.post("/{view_id}/sample")
def sample(ledger: LedgerDep, services: ServicesDep, owner: str, view_id: str, token: Token = "") -> dict[str, Any]:
    """Read the beginning of a view's source, and return a sample of the view."""
    found = next((view for view in ledger.views(owner) if view.id == view_id), None)
    if found is None:
        raise RequestRefusedError(404, f"view {view_id} does not exist")
    return asdict(services.connected_swift("sample a view").sample(replace(found, token=token)))


@router.delete("/{view_id}", status_code=204)
def drop_view(services: ServicesDep, owner: str, view_id: str) -> Response:
    """Remove a view."""
    services.views.drop(view_id, owner)
    return Response(status_code=204)
