"""Metrics that admins add for rules of the object store."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Response

from zoe_api.access.access import AsAdmin
from zoe_api.http.routing import api_router
from zoe_api.storage.client import ControllerDep
from zoe_client.wire import StorageMetricList, StorageMetricNew, StorageMetricRequest, StorageMetricView
from zoe_client.words.names import METRIC_NAME

router = api_router("/storage/metrics", tag="storage")
Name = Annotated[str, Path(min_length=1, max_length=64, pattern=METRIC_NAME)]


@router.get("", response_model=StorageMetricList)
def list_storage_metrics(_: AsAdmin, controller: ControllerDep) -> StorageMetricList:
    """List the metrics added for rules, with their present values."""
    return StorageMetricList(metrics=controller.ask(list[StorageMetricView], "GET", "/v1/metrics"))


@router.post("/{name}", response_model=StorageMetricView, status_code=201)
def add_storage_metric(
    name: Name, body: StorageMetricRequest, _: AsAdmin, controller: ControllerDep
) -> StorageMetricView:
    """Add a metric for rules: an expression for Prometheus, or a program in Python."""
    wanted = StorageMetricNew(name=name, **body.model_dump(exclude_unset=True))
    return controller.ask(StorageMetricView, "POST", "/v1/metrics", wanted, compiles=True)


@router.delete("/{name}", status_code=204)
def remove_storage_metric(name: Name, _: AsAdmin, controller: ControllerDep) -> Response:
    """Remove a metric that no rule uses."""
    controller.remove(f"/v1/metrics/{name}")
    return Response(status_code=204)
