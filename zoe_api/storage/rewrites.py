"""Jobs that store objects again by today's rules, or as they were put; for admins."""

from __future__ import annotations

from fastapi import Request, Response

from zoe_api.access.access import Admin
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import MasterDep, ask
from zoe_client.wire import StorageRewriteList, StorageRewriteRequest, StorageRewriteView

router = api_router("/storage/rewrites", tag="storage")
_KIND = "storage_rules"


@router.get("", response_model=StorageRewriteList)
def list_storage_rewrites(_: Admin, master: MasterDep, request: Request) -> StorageRewriteList:
    """List the jobs that store objects again, and how far they are."""
    return StorageRewriteList(**ask(master, _KIND, {"do": "rewrites"}, request))


@router.post("", response_model=StorageRewriteView, status_code=201)
def begin_storage_rewrite(
    body: StorageRewriteRequest, principal: Admin, master: MasterDep, request: Request
) -> StorageRewriteView:
    """Store objects again by today's rules, or as they were put. One job runs at a time."""
    asked = body.model_dump() | {"do": "rewrite", "author": principal.user}
    return StorageRewriteView(**ask(master, _KIND, asked, request, principal.user))


@router.post("/{number}/resume", response_model=StorageRewriteView, status_code=201)
def resume_storage_rewrite(number: int, principal: Admin, master: MasterDep, request: Request) -> StorageRewriteView:
    """Let a job go on that was cancelled or gave up, from where it ended."""
    asked = {"do": "resume_rewrite", "number": number}
    return StorageRewriteView(**ask(master, _KIND, asked, request, principal.user))


@router.delete("/{number}", status_code=204)
def cancel_storage_rewrite(number: int, principal: Admin, master: MasterDep, request: Request) -> Response:
    """Cancel a job. What was stored again stays so."""
    ask(master, _KIND, {"do": "cancel_rewrite", "number": number}, request, principal.user)
    return Response(status_code=204)
