"""Jobs that store objects again by today's rules, or as they were put; for admins."""

from __future__ import annotations

from fastapi import Response

from zoe_api.access.access import AsAdmin
from zoe_api.http.routing import api_router
from zoe_api.storage.client import ControllerDep
from zoe_client.wire import StorageRewriteList, StorageRewriteRequest, StorageRewriteView

router = api_router("/storage/rewrites", tag="storage")


@router.get("", response_model=StorageRewriteList)
def list_storage_rewrites(_: AsAdmin, controller: ControllerDep) -> StorageRewriteList:
    """List the jobs that store objects again, and how far they are."""
    return StorageRewriteList(rewrites=controller.ask(list[StorageRewriteView], "GET", "/v1/rewrites"))


@router.post("", response_model=StorageRewriteView, status_code=201)
def begin_storage_rewrite(body: StorageRewriteRequest, _: AsAdmin, controller: ControllerDep) -> StorageRewriteView:
    """Store objects again by today's rules, or as they were put. One job runs at a time."""
    return controller.ask(StorageRewriteView, "POST", "/v1/rewrites", body)


@router.post("/{number}/resume", response_model=StorageRewriteView, status_code=201)
def resume_storage_rewrite(number: int, _: AsAdmin, controller: ControllerDep) -> StorageRewriteView:
    """Let a job go on that was cancelled or gave up, from where it ended."""
    return controller.ask(StorageRewriteView, "POST", f"/v1/rewrites/{number}/resume")


@router.delete("/{number}", status_code=204)
def cancel_storage_rewrite(number: int, _: AsAdmin, controller: ControllerDep) -> Response:
    """Cancel a job. What was stored again stays so."""
    controller.remove(f"/v1/rewrites/{number}")
    return Response(status_code=204)
