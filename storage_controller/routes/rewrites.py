"""`/v1/rewrites`: jobs that store a tenant's objects again by today's rules, or as they were put."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from storage_controller.answers import Refused
from storage_controller.routes.parameters import Author, ServicesDep
from storage_controller.swift.rewrite_ledger import RewriteJob

RATE_MIN, RATE_MAX = 100_000, 10**11
_FIELDS = (
    *("id", "tenant", "container", "plain", "dry_run", "bytes_per_s", "author", "created_s", "ended_s", "waits"),
    *("sentence", "at_container", "at_object", "expected"),
    *("looked", "changed", "kept", "failed", "bytes", "changed_bytes"),
)


class WantedRewrite(BaseModel):
    """Which objects, how, and how fast. container: empty for all of the tenant's."""

    model_config = ConfigDict(extra="forbid")

    tenant: Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=r"^[^\s\x00-\x1f#:/]+$")]
    container: Annotated[str, StringConstraints(max_length=256, pattern=r"^[^\x00/]*$")] = ""
    plain: bool = False
    dry_run: bool = False
    bytes_per_s: Annotated[int, Field(ge=RATE_MIN, le=RATE_MAX)] | None = None


router = APIRouter(prefix="/v1/rewrites")


@router.get("")
def listed(services: ServicesDep) -> list[dict[str, Any]]:
    """List the newest jobs."""
    return [_document(one) for one in services.rewrites.jobs()]


@router.post("", status_code=201)
def begin(services: ServicesDep, wanted: WantedRewrite, author: Author = None) -> dict[str, Any]:
    """Begin a job."""
    swift = services.connected("store objects again")
    if wanted.container:
        swift.objects.count(wanted.tenant, wanted.container)
    rate = wanted.bytes_per_s or services.rewrite_bytes_per_s
    job = RewriteJob(wanted.tenant, wanted.container, wanted.plain, wanted.dry_run, rate)
    return _document(services.rewrites.begin(job, author))


@router.post("/{number}/resume", status_code=201)
def resume(services: ServicesDep, number: int) -> dict[str, Any]:
    """Go on with a job that was cancelled or gave up."""
    found = services.rewrites.resume(number)
    if found is None:
        raise Refused(404, f"there is no job {number} that was cancelled or gave up")
    return _document(found)


@router.delete("/{number}", status_code=204)
def cancel(services: ServicesDep, number: int) -> Response:
    """Cancel the job that runs."""
    if not services.rewrites.cancel(number):
        raise Refused(404, f"no job {number} runs")
    return Response(status_code=204)


def _document(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"state": _state(row), **{name: row[name] for name in _FIELDS}}


def _state(row: Mapping[str, Any]) -> str:
    if row["ended_s"] is None:
        return "running"
    return "cancelled" if row["cancelled"] else "gave_up" if row["waits"] else "done"
