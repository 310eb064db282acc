"""Jobs that rewrite a tenant's objects by the present rules, or to their original bytes: `/v1/rewrites`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Response

from storage_controller.answers import RequestRefusedError
from storage_controller.routes.parameters import Author, ServicesDep
from storage_controller.swift.rewrite_ledger import RewriteJob
from zoe_client.wire.storage.rewrites import RewriteState, StorageRewriteRequest, StorageRewriteView

router = APIRouter(prefix="/v1/rewrites")


@router.get("")
def list_jobs(services: ServicesDep) -> list[StorageRewriteView]:
    """List the newest jobs."""
    return [_view(job) for job in services.rewrites.jobs()]


@router.post("", status_code=201)
def begin(services: ServicesDep, wanted: StorageRewriteRequest, author: Author = None) -> StorageRewriteView:
    """Begin a job."""
    swift = services.connected_swift("store objects again")
    if wanted.container:
        swift.objects.count(wanted.tenant, wanted.container)
    rate = wanted.bytes_per_s or services.rewrite_bytes_per_s
    job = RewriteJob(wanted.tenant, wanted.container, wanted.plain, wanted.dry_run, rate)
    return _view(services.rewrites.begin(job, author))


@router.post("/{number}/resume", status_code=201)
def resume(services: ServicesDep, number: int) -> StorageRewriteView:
    """Resume a job that was cancelled or gave up."""
    found = services.rewrites.resume(number)
    if found is None:
        raise RequestRefusedError(404, f"there is no cancelled or failed job {number}")
    return _view(found)


@router.delete("/{number}", status_code=204)
def cancel(services: ServicesDep, number: int) -> Response:
    """Cancel the running job."""
    if not services.rewrites.cancel(number):
        raise RequestRefusedError(404, f"job {number} is not running")
    return Response(status_code=204)


def _view(row: Mapping[str, Any]) -> StorageRewriteView:
    known = {name: entry for name, entry in row.items() if name in StorageRewriteView.model_fields}
    return StorageRewriteView(**known, state=_state(row))


def _state(row: Mapping[str, Any]) -> RewriteState:
    if row["ended_s"] is None:
        return "running"
    return "cancelled" if row["cancelled"] else "gave_up" if row["waits"] else "done"
