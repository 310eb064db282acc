"""Requests at the proxies: rates under `/v1/traffic`, and totals for Prometheus under `/metrics`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from storage_controller.answers import RequestRefusedError
from storage_controller.nodes.collector import NodeCollector
from storage_controller.regulation.collector import ControllerCollector
from storage_controller.routes.parameters import ServicesDep
from storage_controller.routes.services import Services
from storage_controller.traffic.collectors import ContentsCollector, CountsCollector, TrafficCollector
from storage_controller.traffic.traffic import DIMENSIONS, WINDOW_S_MAX, Dimension, Requests, group_by, weight
from zoe_client.wire.storage.traffic import StorageTrafficRow, StorageTrafficView

router = APIRouter()
ROWS_MAX = 1000
Asked = Literal["tenant", "key", "container", "method", "proxy", "node"]
ASKED: tuple[Asked, ...] = ("tenant", "key", "container", "method", "proxy", "node")
"""Dimensions of sums of rates, in the order of the answer."""


def registry_of(services: Services) -> CollectorRegistry:
    """Return all metrics of a controller."""
    found, reports = CollectorRegistry(), services.reports
    for collector in (
        TrafficCollector(reports.traffic),
        CountsCollector(reports.of_signers, "key_", "by signer", ("tenant", "key", "method", "proxy")),
        CountsCollector(reports.of_nodes, "node_", "at object servers", ("tenant", "container", "method", "node")),
        ControllerCollector(services.supervisor, reports.active, services.readings),
        NodeCollector(services.nodes),
        ContentsCollector(reports.contents),
    ):
        found.register(collector)
    return found


@router.get("/v1/traffic", response_model_exclude_unset=True)
def recent(
    services: ServicesDep,
    by: Annotated[list[Asked], Query(max_length=len(ASKED))] = list(DIMENSIONS),  # noqa: B006
    seconds: Annotated[float, Query(gt=0, le=WINDOW_S_MAX)] = 10.0,
    tenant: Annotated[str | None, Query(max_length=256)] = None,
) -> StorageTrafficView:
    """Return rates of the last seconds, the highest first."""
    if (why := combination_error(by)) is not None:
        raise RequestRefusedError(422, why)
    names = [name for name in ASKED if name in by]
    reports = services.reports
    counted = reports.of_signers if "key" in by else reports.of_nodes if "node" in by else reports.traffic
    covered_s, requests = counted.recent(seconds)
    mine = {subject: entry for subject, entry in requests.items() if tenant in (None, subject.tenant)}
    rows = sorted(group_by(mine, map(_dimension, names)).items(), key=lambda r: weight(r[1]))
    views = [
        _row(dict(zip(map(str, names), key, strict=True)), requests, covered_s) for key, requests in rows[:ROWS_MAX]
    ]
    return StorageTrafficView(seconds=covered_s, rows=views, left_out=max(len(rows) - ROWS_MAX, 0))


@router.get("/metrics")
def metrics(request: Request) -> Response:
    """Return totals for Prometheus."""
    return Response(generate_latest(request.app.state.registry), media_type=CONTENT_TYPE_LATEST)


def _dimension(asked: Asked) -> Dimension:
    """Return the dimension of a counter: a signer stands for a container, an object server for a proxy."""
    match asked:
        case "key":
            return "container"
        case "node":
            return "proxy"
        case _:
            return asked


def combination_error(by: Collection[str]) -> str | None:
    """Return why these dimensions cannot be combined; None if they can."""
    if "key" in by and {"container", "node"} & {*by}:
        return "requests by signer are counted without containers, and not at nodes"
    if "node" in by and "proxy" in by:
        return "nodes do not know through which proxy requests came"
    return None


def _row(known: Mapping[str, Any], one: Requests, seconds: float) -> StorageTrafficRow:
    return StorageTrafficRow(
        **known,
        requests_per_s=one.count / seconds,
        refused_per_s=one.refused / seconds,
        failed_per_s=one.failed / seconds,
        read_bytes_per_s=one.read_bytes / seconds,
        write_bytes_per_s=one.written_bytes / seconds,
        cpu_s_per_s=one.cpu_us / 1e6 / seconds,
        cpu_wait_s_per_s=one.waited_us / 1e6 / seconds,
        mean_latency_s=one.latency_us / 1e6 / one.count if one.count else None,
    )
