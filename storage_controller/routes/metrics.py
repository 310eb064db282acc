"""Metrics of an installation with their values: `/v1/metrics`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import StringConstraints

from storage_controller.answers import RequestRefusedError, warning
from storage_controller.database.supervision import ControllerState
from storage_controller.metrics.metric_store import KeptMetric, MetricSource
from storage_controller.metrics.values import Reading
from storage_controller.routes.parameters import Author, MetricsDep, ServicesDep
from zoe_client.wire.storage.controllers import (
    EXPRESSION_MAX,
    StorageMetricNew,
    StorageMetricValue,
    StorageMetricView,
)
from zoe_lib.clock import SYSTEM_CLOCK, Clock

SERIES_SHOWN_MAX = 100
Expression = Annotated[str, StringConstraints(min_length=1, max_length=EXPRESSION_MAX, pattern=r"^[^\x00]+$")]


class NewMetric(StorageMetricNew):
    """A metric: an expression of PromQL, which PostgreSQL can store, or a program in Python with a class Metric."""

    expression: Expression | None = None


router = APIRouter(prefix="/v1/metrics")


@router.get("")
def list_metrics(services: ServicesDep, added: MetricsDep) -> list[StorageMetricView]:
    """List all metrics of the installation with their values."""
    states = {state.name: state for state in services.supervisor.states()}
    known = services.readings()
    return [
        _view(metric, known.get(metric.name), states.get(metric.controller), added.users(metric.name))
        for metric in added.kept.metrics()
    ]


@router.post("", status_code=201)
def create(added: MetricsDep, given: NewMetric, response: Response, author: Author = None) -> StorageMetricView:
    """Create a metric: an expression, or a program."""
    attributes = {"tenant_label": given.tenant_label, "container_label": given.container_label}
    if (given.expression is None) == (given.program is None):
        raise RequestRefusedError(400, "give an expression or a program, not both")
    if given.program is not None:
        return _view(added.add_program(given.name, given.program, {}, author))
    made, said = added.add_expression(given.name, given.expression or "", attributes, author)
    response.headers.update(warning(said))
    return _view(made)


@router.delete("/{name}", status_code=204)
def delete(added: MetricsDep, name: str) -> Response:
    """Remove a metric that no rule uses."""
    added.kept.metric(name)
    added.drop(name)
    return Response(status_code=204)


def _view(
    one: KeptMetric,
    reading: Reading | None = None,
    state: ControllerState | None = None,
    used_by: list[int] | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> StorageMetricView:
    series = [] if reading is None else sorted(reading.series.items())
    labels = one.attributes if one.source is MetricSource.PROMETHEUS else {}
    return StorageMetricView(
        name=one.name,
        source=one.source.value,
        text=one.text,
        mode=one.mode.value,
        author=one.author,
        created_s=one.created_s,
        tenant_label=labels.get("tenant_label"),
        container_label=labels.get("container_label"),
        age_s=None if reading is None else max(clock.monotonic_s() - reading.at_s, 0.0),
        took_s=None if reading is None else reading.took_s,
        values=[
            StorageMetricValue(tenant=tenant or None, container=container or None, value=value)
            for (tenant, container), value in series[:SERIES_SHOWN_MAX]
        ],
        values_count=len(series),
        problem="" if state is None else state.problem,
        rules=used_by or [],
    )
