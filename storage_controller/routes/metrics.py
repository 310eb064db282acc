"""Metrics that an installation adds: `/v1/metrics` with their values."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, StringConstraints

from storage_controller.answers import Refused, warning
from storage_controller.database.supervision import ControllerState
from storage_controller.metrics.ledger import KeptMetric, MetricSource
from storage_controller.metrics.process import SOURCE_BYTES_MAX
from storage_controller.metrics.values import CONTAINER_LABEL, TENANT_LABEL, Reading
from storage_controller.routes.parameters import Author, MetricsDep, ServicesDep
from zoe_lib.clock import SYSTEM_CLOCK, Clock

EXPRESSION_MAX = 4096
SERIES_SHOWN_MAX = 100
MetricName = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Expression = Annotated[str, StringConstraints(min_length=1, max_length=EXPRESSION_MAX, pattern=r"^[^\x00]+$")]
Label = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class NewMetric(BaseModel):
    """A metric: an expression of PromQL, or a program in Python with a class Metric."""

    name: MetricName
    expression: Expression | None = None
    program: Annotated[str, StringConstraints(min_length=1, max_length=SOURCE_BYTES_MAX)] | None = None
    tenant_label: Label = TENANT_LABEL
    container_label: Label = CONTAINER_LABEL


router = APIRouter(prefix="/v1/metrics")


@router.get("")
def listed(services: ServicesDep, added: MetricsDep) -> list[dict[str, Any]]:
    """List all metrics of the installation with their values."""
    states = {one.name: one for one in services.supervisor.states()}
    known = services.readings()
    return [
        _document(one, known.get(one.name), states.get(one.controller), added.users(one.name))
        for one in added.kept.metrics()
    ]


@router.post("", status_code=201)
def create(added: MetricsDep, given: NewMetric, response: Response, author: Author = None) -> dict[str, Any]:
    """Create a metric: an expression, or a program."""
    attributes = {"tenant_label": given.tenant_label, "container_label": given.container_label}
    if (given.expression is None) == (given.program is None):
        raise Refused(400, "a metric is an expression or a program: give one of them")
    if given.program is not None:
        return _document(added.add_program(given.name, given.program, {}, author))
    made, said = added.add_expression(given.name, given.expression or "", attributes, author)
    response.headers.update(warning(said))
    return _document(made)


@router.delete("/{name}", status_code=204)
def delete(added: MetricsDep, name: str) -> Response:
    """Remove a metric that no rule uses."""
    added.kept.one(name)
    added.drop(name)
    return Response(status_code=204)


def _document(
    one: KeptMetric,
    reading: Reading | None = None,
    state: ControllerState | None = None,
    used_by: list[int] | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> dict[str, Any]:
    series = [] if reading is None else sorted(reading.series.items())
    return {
        "name": one.name,
        "source": str(one.source),
        "text": one.text,
        "mode": str(one.mode),
        "author": one.author,
        "created_s": one.created_s,
        "tenant_label": one.attributes.get("tenant_label") if one.source is MetricSource.PROMETHEUS else None,
        "container_label": one.attributes.get("container_label") if one.source is MetricSource.PROMETHEUS else None,
        "age_s": None if reading is None else max(clock.monotonic_s() - reading.at_s, 0.0),
        "took_s": None if reading is None else reading.took_s,
        "values": [
            {"tenant": tenant or None, "container": container or None, "value": value}
            for (tenant, container), value in series[:SERIES_SHOWN_MAX]
        ],
        "values_count": len(series),
        "problem": "" if state is None else state.problem,
        "rules": used_by or [],
    }
