"""Metrics that admins add for rules of the object store."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request, Response

from zoe_api.access.access import Admin
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import MasterDep, ask
from zoe_client.wire import StorageMetricList, StorageMetricRequest, StorageMetricView
from zoe_client.words.names import METRIC_NAME

router = api_router("/storage/metrics", tag="storage")
_KIND = "storage_rules"
Name = Annotated[str, Path(min_length=1, max_length=64, pattern=METRIC_NAME)]


@router.get("", response_model=StorageMetricList)
def list_storage_metrics(_: Admin, master: MasterDep, request: Request) -> StorageMetricList:
    """List the metrics that were added for rules, with their present values."""
    return StorageMetricList(**ask(master, _KIND, {"do": "metrics"}, request))


@router.post("/{name}", response_model=StorageMetricView, status_code=201)
def add_storage_metric(
    name: Name, body: StorageMetricRequest, principal: Admin, master: MasterDep, request: Request
) -> StorageMetricView:
    """Add a metric that rules may compare: an expression that a Prometheus is asked, or a program in Python."""
    asked = body.model_dump() | {"do": "add_metric", "name": name, "author": principal.user}
    return StorageMetricView(**ask(master, _KIND, asked, request, principal.user))


@router.delete("/{name}", status_code=204)
def remove_storage_metric(name: Name, principal: Admin, master: MasterDep, request: Request) -> Response:
    """Remove a metric that no rule uses."""
    ask(master, _KIND, {"do": "drop_metric", "name": name}, request, principal.user)
    return Response(status_code=204)
