"""Prometheus metrics of controllers and of added metrics. A series for each controller: their number is bounded."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from storage_controller.database.supervision import Active, Supervisor
from storage_controller.metrics.values import Readings


class ControllerCollector(Collector):
    """States of controllers, and the values of added metrics."""

    def __init__(self, supervisor: Supervisor, active: Active, readings: Readings) -> None:
        self._supervisor = supervisor
        self._active = active
        self._readings = readings

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        runs = CounterMetricFamily("zoe_storage_controller_runs", "Runs that went well.", labels=["name"])
        failures = CounterMetricFamily("zoe_storage_controller_failures", "Runs that failed.", labels=["name"])
        active = GaugeMetricFamily(
            "zoe_storage_rule_active", "1 while the condition of a rule with metrics holds.", labels=["name"]
        )
        for state in self._supervisor.states():
            runs.add_metric([state.name], state.runs)
            failures.add_metric([state.name], state.failures)
        for name, holds in self._active().items():
            active.add_metric([name], holds)
        values = GaugeMetricFamily(
            "zoe_storage_metric_values", "Number of present values of a metric of the installation.", labels=["metric"]
        )
        for name, reading in self._readings().items():
            values.add_metric([name], len(reading.series))
        yield from (runs, failures, active, values)
