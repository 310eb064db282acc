"""Metrics of an installation in the appendix dialect: `/registry/metrics`."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Response
from pydantic import BaseModel, ConfigDict

from storage_controller.answers import RequestRefusedError, warning
from storage_controller.metrics.metric_store import KeptMetric, MetricSource
from storage_controller.metrics.values import CONTAINER_LABEL, TENANT_LABEL
from storage_controller.routes.metrics import Expression
from storage_controller.routes.parameters import Author, MetricsDep
from storage_filters.rules.metrics import METRICS
from zoe_client.wire.storage.controllers import EXPRESSION_MAX, LabelName, MetricName

REGISTRY = "/registry/metrics"
_COUNTED = {"type": "float", "source": "proxies"}


class NewMetricWord(BaseModel):
    """A metric of the appendix dialect; with an `expression`, it is evaluated by PromQL. Other fields are stored."""

    model_config = ConfigDict(extra="allow")

    name: MetricName
    expression: Expression | None = None
    tenant_label: LabelName = TENANT_LABEL
    container_label: LabelName = CONTAINER_LABEL


router = APIRouter()


@router.get(REGISTRY)
def list_metrics(added: MetricsDep) -> list[dict[str, Any]]:
    """List the metrics of the proxies and of the installation."""
    counted = [{"name": name, **_COUNTED} for name in METRICS]
    return [*counted, *map(_word, added.kept.metrics())]


@router.post(REGISTRY, status_code=201)
def create(added: MetricsDep, given: NewMetricWord, response: Response, author: Author = None) -> dict[str, Any]:
    """Create a metric."""
    fields = given.model_dump(exclude={"name", "expression"})
    if given.expression is not None:
        made, said = added.add_expression(given.name, given.expression, fields, author)
    else:
        made = added.add(given.name, MetricSource.NONE, "", fields, author)
        said = ["stored, but not measured: give it an expression, or upload a metric module"]
    response.headers.update(warning(said))
    return _word(made)


@router.get(REGISTRY + "/{name}")
def show_metric(added: MetricsDep, name: str) -> dict[str, Any]:
    """Show a metric of the proxies or of the installation."""
    if name.upper() in METRICS:
        return {"name": name.upper(), **_COUNTED}
    return _word(added.kept.metric(name))


@router.put(REGISTRY + "/{name}", status_code=201)
def change(
    added: MetricsDep, name: str, given: Annotated[dict[str, Any], Body()], response: Response
) -> dict[str, Any]:
    """Change the expression or fields of a metric."""
    one = added.kept.metric(name)
    if one.is_module:
        raise RequestRefusedError(409, f"{one.name} is a metric module: change /registry/metric_module/{one.id}")
    text = given.pop("expression", one.text)
    if not isinstance(text, str) or len(text) > EXPRESSION_MAX:
        raise RequestRefusedError(400, f"expression must be a string of at most {EXPRESSION_MAX} characters")
    given.pop("name", None)
    attributes = {**one.attributes, **given}
    response.headers.update(warning(added.change_expression(one, text, attributes)))
    return _word(added.kept.metric(name))


@router.delete(REGISTRY + "/{name}", status_code=204)
def delete(added: MetricsDep, name: str) -> Response:
    """Remove a metric that no rule uses."""
    if name.upper() in METRICS:
        raise RequestRefusedError(409, f"{name} is counted by proxies: it cannot be removed")
    added.drop(name)
    return Response(status_code=204)


def _word(one: KeptMetric) -> dict[str, Any]:
    own = {"expression": one.text} if one.source is MetricSource.PROMETHEUS else {}
    return {"type": "float", **one.attributes, "name": one.name, "source": str(one.source), **own}
