"""Jobs that rewrite objects by the current rules, or without filters; for admins."""

from __future__ import annotations

from fastapi import Response

from zoe_api.access.access import AsAdmin
from zoe_api.http.routing import api_router
from zoe_api.storage.client import ControllerDep
from zoe_client.wire import StorageRewriteList, StorageRewriteRequest, StorageRewriteView

router = api_router("/storage/rewrites", tag="storage")


@router.get("", response_model=StorageRewriteList)
def list_storage_rewrites(_: AsAdmin, controller: ControllerDep) -> StorageRewriteList:
    """List the rewriting jobs, with their progress."""
    return StorageRewriteList(rewrites=controller.ask(list[StorageRewriteView], "GET", "/v1/rewrites"))


@router.post("", response_model=StorageRewriteView, status_code=201)
def begin_storage_rewrite(body: StorageRewriteRequest, _: AsAdmin, controller: ControllerDep) -> StorageRewriteView:
    """Rewrite objects by the current rules, or without filters. One job runs at a time."""
    return controller.ask(StorageRewriteView, "POST", "/v1/rewrites", body)


@router.post("/{number}/resume", response_model=StorageRewriteView, status_code=201)
def resume_storage_rewrite(number: int, _: AsAdmin, controller: ControllerDep) -> StorageRewriteView:
    """Resume a job that was cancelled or gave up, from where it ended."""
    return controller.ask(StorageRewriteView, "POST", f"/v1/rewrites/{number}/resume")


@router.delete("/{number}", status_code=204)
def cancel_storage_rewrite(number: int, _: AsAdmin, controller: ControllerDep) -> Response:
    """Cancel a job. Rewritten objects stay."""
    controller.remove(f"/v1/rewrites/{number}")
    return Response(status_code=204)
