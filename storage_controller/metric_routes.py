"""Metrics that an installation adds: `/v1/metrics` with their values, and as words of the appendix dialect
`/registry/metrics`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Body, Response
from pydantic import BaseModel, ConfigDict, StringConstraints

from storage_controller.answers import Refused, warning
from storage_controller.metric_ledger import KeptMetric, MetricLedger, MetricSource
from storage_controller.metric_process import SOURCE_BYTES_MAX, check_source
from storage_controller.metric_values import MetricFault
from storage_controller.own_metrics import CONTAINER_LABEL, TENANT_LABEL, Reading
from storage_controller.prometheus import NO_PROMETHEUS, ask
from storage_controller.rule_ledger import RuleLedger
from storage_controller.rule_routes import Author
from storage_controller.supervision import ControllerState, Mode, Supervisor
from storage_filters.rule_metrics import METRICS
from storage_filters.rules import metrics_of
from zoe_lib.clock import SYSTEM_CLOCK, Clock

REGISTRY = "/registry/metrics"
EXPRESSION_MAX = 4096
SERIES_SHOWN_MAX = 100
_ATTRIBUTES_BYTES_MAX = 16 * 1024
MetricName = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Expression = Annotated[str, StringConstraints(min_length=1, max_length=EXPRESSION_MAX, pattern=r"^[^\x00]+$")]
Label = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Readings = Callable[[], Mapping[str, Reading]]
_RESERVED = frozenset(["FOR", "WHEN", "DO", "AND", "OR", "WITH", "ON", "TO", "REPLACES", "SET", "DELETE"])


class NewMetric(BaseModel):
    """A metric: an expression of PromQL, or a program in Python with a class Metric."""

    name: MetricName
    expression: Expression | None = None
    program: Annotated[str, StringConstraints(min_length=1, max_length=SOURCE_BYTES_MAX)] | None = None
    tenant_label: Label = TENANT_LABEL
    container_label: Label = CONTAINER_LABEL


class NewMetricWord(BaseModel):
    """A metric of the appendix dialect; with an `expression`, it is one of PromQL. Other fields are stored."""

    model_config = ConfigDict(extra="allow")

    name: MetricName
    expression: Expression | None = None
    tenant_label: Label = TENANT_LABEL
    container_label: Label = CONTAINER_LABEL


class AddedMetrics:
    """What the routes of both do."""

    def __init__(self, kept: MetricLedger, rules: RuleLedger, prometheus_url: str | None) -> None:
        self.kept = kept
        self._rules = rules
        self._url = prometheus_url

    def add_expression(
        self, name: str, text: str, attributes: Mapping[str, Any], author: str | None
    ) -> tuple[KeptMetric, list[str]]:
        """Store an expression that Prometheus understands; return also what is to be said of it. Refused."""
        said = self._tried(text, attributes)
        return self.add(name, MetricSource.PROMETHEUS, text, attributes, author), said

    def add_program(self, name: str, source: str, attributes: Mapping[str, Any], author: str | None) -> KeptMetric:
        """Store a program that begins. Refused."""
        try:
            check_source(source)
        except MetricFault as fault:
            raise Refused(400, f"this is no program of a metric: {fault}") from None
        return self.add(name, MetricSource.PYTHON, source, attributes, author)

    def add(
        self, name: str, source: MetricSource, text: str, attributes: Mapping[str, Any], author: str | None
    ) -> KeptMetric:
        """Store a metric. Refused."""
        if name.upper() in _RESERVED:
            raise Refused(409, f"{name} is a word of the language itself: use another name")
        if len(json.dumps(attributes)) > _ATTRIBUTES_BYTES_MAX:
            raise Refused(400, f"{name}: its fields take more than {_ATTRIBUTES_BYTES_MAX} bytes")
        return self.kept.add(name, source, text, attributes, author)

    def change_expression(self, one: KeptMetric, text: str, attributes: Mapping[str, Any]) -> list[str]:
        """Store another expression or other fields. Refused."""
        said = self._tried(text, attributes) if text else []
        if len(json.dumps(attributes)) > _ATTRIBUTES_BYTES_MAX:
            raise Refused(400, f"{one.name}: its fields take more than {_ATTRIBUTES_BYTES_MAX} bytes")
        source = MetricSource.PROMETHEUS if text else MetricSource.NONE
        self.kept.change(one.name, source=source, text=text, attributes=dict(attributes))
        return said

    def drop(self, name: str) -> None:
        """Remove a metric that no rule uses. Refused."""
        if used := self.users(name):
            raise Refused(409, f"rule {used[0]} uses {name}: remove it first")
        self.kept.drop(name)

    def users(self, name: str) -> list[int]:
        """Return the rules that use a metric."""
        return [one.id for one in self._rules.rules() if one.rule is not None and name.upper() in metrics_of(one.rule)]

    def _tried(self, text: str, attributes: Mapping[str, Any]) -> list[str]:
        if self._url is None:
            raise Refused(409, NO_PROMETHEUS)
        labels = (attributes.get(name, default) for name, default in _LABELS.items())
        try:
            ask(self._url, text, *labels)
        except MetricFault as fault:
            if str(fault).startswith("Prometheus refuses"):
                raise Refused(400, str(fault)) from None
            return [f"stored, but not measured now: {fault}"]
        return []


_LABELS = {"tenant_label": TENANT_LABEL, "container_label": CONTAINER_LABEL}


def metric_routes(added: AddedMetrics, readings: Readings, supervisor: Supervisor) -> APIRouter:
    """`/v1/metrics`."""
    routes = APIRouter(prefix="/v1/metrics")

    @routes.get("")
    def listed() -> list[dict[str, Any]]:
        states = {one.name: one for one in supervisor.states()}
        known = readings()
        return [
            _document(one, known.get(one.name), states.get(one.controller), added.users(one.name))
            for one in added.kept.metrics()
        ]

    @routes.post("", status_code=201)
    def create(given: NewMetric, response: Response, author: Author = None) -> dict[str, Any]:
        attributes = {"tenant_label": given.tenant_label, "container_label": given.container_label}
        if (given.expression is None) == (given.program is None):
            raise Refused(400, "a metric is an expression or a program: give one of them")
        if given.program is not None:
            return _document(added.add_program(given.name, given.program, {}, author))
        made, said = added.add_expression(given.name, given.expression or "", attributes, author)
        response.headers.update(warning(said))
        return _document(made)

    @routes.delete("/{name}", status_code=204)
    def delete(name: str) -> Response:
        added.kept.one(name)
        added.drop(name)
        return Response(status_code=204)

    return routes


def metric_word_routes(added: AddedMetrics) -> APIRouter:
    """`/registry/metrics`."""
    routes = APIRouter()

    @routes.get(REGISTRY)
    def listed() -> list[dict[str, Any]]:
        counted = [{"name": name, "type": "float", "source": "proxies"} for name in METRICS]
        return [*counted, *map(_word, added.kept.metrics())]

    @routes.post(REGISTRY, status_code=201)
    def create(given: NewMetricWord, response: Response, author: Author = None) -> dict[str, Any]:
        fields = given.model_dump(exclude={"name", "expression"})
        if given.expression is not None:
            made, said = added.add_expression(given.name, given.expression, fields, author)
        else:
            made = added.add(given.name, MetricSource.NONE, "", fields, author)
            said = ["stored, but nothing measures it: give it an expression, or upload a metric module"]
        response.headers.update(warning(said))
        return _word(made)

    @routes.get(REGISTRY + "/{name}")
    def shown(name: str) -> dict[str, Any]:
        return _word(added.kept.one(name))

    @routes.put(REGISTRY + "/{name}", status_code=201)
    def change(name: str, given: Annotated[dict[str, Any], Body()], response: Response) -> dict[str, Any]:
        one = added.kept.one(name)
        if one.source is MetricSource.PYTHON:
            raise Refused(409, f"{one.name} is a metric module: change /registry/metric_module/{one.id}")
        text = given.pop("expression", one.text)
        if not isinstance(text, str) or len(text) > EXPRESSION_MAX:
            raise Refused(400, f"expression: a text of at most {EXPRESSION_MAX} characters")
        given.pop("name", None)
        attributes = {**one.attributes, **given}
        response.headers.update(warning(added.change_expression(one, text, attributes)))
        return _word(added.kept.one(name))

    @routes.delete(REGISTRY + "/{name}", status_code=204)
    def delete(name: str) -> Response:
        if name.upper() in METRICS:
            raise Refused(409, f"{name} is counted by proxies: it cannot be removed")
        added.drop(name)
        return Response(status_code=204)

    return routes


def _word(one: KeptMetric) -> dict[str, Any]:
    own = {"expression": one.text} if one.source is MetricSource.PROMETHEUS else {}
    return {"type": "float", **one.attributes, "name": one.name, "source": str(one.source), **own}


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


def enabled(text: object) -> Mode:
    """Return the mode for what a client of the appendix dialect calls `enabled`. Refused."""
    found = {"true": Mode.ON, "false": Mode.OFF}.get(str(text).lower())
    if found is None:
        raise Refused(400, f"enabled is true or false, not {str(text)[:40]!r}")
    return found
