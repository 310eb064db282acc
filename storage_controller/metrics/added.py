"""Metrics of an installation: checks before one is stored, changed or removed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from storage_controller.answers import RequestRefusedError
from storage_controller.database.supervision import Mode
from storage_controller.metrics.metric_store import KeptMetric, MetricLedger, MetricSource
from storage_controller.metrics.process import check_source
from storage_controller.metrics.prometheus import NO_PROMETHEUS, ask
from storage_controller.metrics.values import CONTAINER_LABEL, TENANT_LABEL, MetricFault
from storage_controller.rules.rule_store import RuleLedger
from storage_filters.rules.rules import metrics_of

_ATTRIBUTES_BYTES_MAX = 16 * 1024
_RESERVED = frozenset(["FOR", "WHEN", "DO", "AND", "OR", "WITH", "ON", "TO", "REPLACES", "SET", "DELETE"])
_LABELS = {"tenant_label": TENANT_LABEL, "container_label": CONTAINER_LABEL}


class AddedMetrics:
    """The metrics of an installation, for both interfaces."""

    def __init__(self, kept: MetricLedger, rules: RuleLedger, prometheus_url: str | None) -> None:
        self.kept = kept
        self._rules = rules
        self._url = prometheus_url

    def add_expression(
        self, name: str, text: str, attributes: Mapping[str, Any], author: str | None
    ) -> tuple[KeptMetric, list[str]]:
        """Store an expression that Prometheus accepts; return it with caveats. Raises RequestRefusedError."""
        said = self._caveats_of_expression(text, attributes)
        return self.add(name, MetricSource.PROMETHEUS, text, attributes, author), said

    def add_program(self, name: str, source: str, attributes: Mapping[str, Any], author: str | None) -> KeptMetric:
        """Store a program that starts without an error. Raises RequestRefusedError."""
        try:
            check_source(source)
        except MetricFault as fault:
            raise RequestRefusedError(400, f"this is not a program for a metric: {fault}") from None
        return self.add(name, MetricSource.PYTHON, source, attributes, author)

    def add(
        self, name: str, source: MetricSource, text: str, attributes: Mapping[str, Any], author: str | None
    ) -> KeptMetric:
        """Store a metric. Raises RequestRefusedError."""
        if name.upper() in _RESERVED:
            raise RequestRefusedError(409, f"{name} is a keyword of the rule language: use another name")
        if len(json.dumps(attributes)) > _ATTRIBUTES_BYTES_MAX:
            raise RequestRefusedError(
                400, f"{name}: its fields, names and values together, take more than {_ATTRIBUTES_BYTES_MAX} bytes"
            )
        return self.kept.add(name, source, text, attributes, author)

    def change_expression(self, one: KeptMetric, text: str, attributes: Mapping[str, Any]) -> list[str]:
        """Store another expression or other fields. Raises RequestRefusedError."""
        said = self._caveats_of_expression(text, attributes) if text else []
        if len(json.dumps(attributes)) > _ATTRIBUTES_BYTES_MAX:
            raise RequestRefusedError(
                400, f"{one.name}: its fields, names and values together, take more than {_ATTRIBUTES_BYTES_MAX} bytes"
            )
        source = MetricSource.PROMETHEUS if text else MetricSource.NONE
        self.kept.change(one.name, source=source, text=text, attributes=dict(attributes))
        return said

    def drop(self, name: str) -> None:
        """Remove a metric that no rule uses. Raises RequestRefusedError."""
        if used := self.users(name):
            raise RequestRefusedError(409, f"rule {used[0]} uses {name}: remove it first")
        self.kept.drop(name)

    def users(self, name: str) -> list[int]:
        """Return the rules that use a metric."""
        return [
            rule.id for rule in self._rules.rules() if rule.rule is not None and name.upper() in metrics_of(rule.rule)
        ]

    def _caveats_of_expression(self, text: str, attributes: Mapping[str, Any]) -> list[str]:
        if self._url is None:
            raise RequestRefusedError(409, NO_PROMETHEUS)
        labels = (attributes.get(name, default) for name, default in _LABELS.items())
        try:
            ask(self._url, text, *labels)
        except MetricFault as fault:
            if str(fault).startswith("Prometheus refuses"):
                raise RequestRefusedError(400, str(fault)) from None
            return [f"stored, but not measured now: {fault}"]
        return []


def mode_of_enabled(text: object) -> Mode:
    """Return the mode for the field `enabled` of the appendix dialect. Raises RequestRefusedError."""
    found = {"true": Mode.ON, "false": Mode.OFF}.get(str(text).lower())
    if found is None:
        raise RequestRefusedError(400, f"enabled must be true or false, not {str(text)[:40]!r}")
    return found
