"""Evaluates the metrics of an installation at one interval, each as a supervised loop.

A source that fails, hangs or floods delays no other one: a few threads evaluate, each evaluation is bounded, and a
metric that is still being evaluated is not started again. Its last values are valid for three intervals; then they are
unknown.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from storage_controller.answers import RequestRefusedError
from storage_controller.database.supervision import Failure, Mode, Supervisor
from storage_controller.metrics import prometheus
from storage_controller.metrics.metric_store import KeptMetric, MetricLedger, MetricSource, metric_controller
from storage_controller.metrics.process import MetricProcess
from storage_controller.metrics.values import (
    CONTAINER_LABEL,
    TENANT_LABEL,
    MetricFault,
    Reading,
    Series,
    read_answer,
    value_for,
)
from storage_controller.traffic.traffic import Traffic
from storage_filters.rules.rules import Rule, metrics_of
from zoe_lib.clock import SYSTEM_CLOCK, Clock

_log = logging.getLogger(__name__)
INTERVALS_HELD = 3
_THREADS = 4
_TICK_S = 0.5
ROWS_MAX = 5000
"""Most counters that a program gets, the ones with the most requests."""


class OwnMetrics:
    """The threads. leads: whether this controller leads; on standby it measures nothing."""

    def __init__(
        self,
        kept: MetricLedger,
        supervisor: Supervisor,
        traffic: Traffic,
        prometheus_url: str | None,
        interval_s: float,
        leads: Callable[[], bool] = lambda: True,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._kept = kept
        self._supervisor = supervisor
        self._traffic = traffic
        self._url = prometheus_url
        self._interval_s = interval_s
        self._leads = leads
        self._clock = clock
        self._readings: dict[str, Reading] = {}
        self._loops: dict[str, _MetricLoop] = {}
        self._closing = threading.Event()
        self._pool = ThreadPoolExecutor(_THREADS, "zoe-metric")
        self._thread = threading.Thread(target=self._run, name="zoe-metrics", daemon=True)

    def begin(self) -> None:
        """Start the threads."""
        self._thread.start()

    def close(self) -> None:
        """End the threads and all programs."""
        self._closing.set()
        self._thread.join()
        for loop in self._loops.values():
            loop.close()
        self._pool.shutdown(cancel_futures=True)

    def readings(self) -> Mapping[str, Reading]:
        """Return the values that are not too old, by name of the metric."""
        oldest_s = self._clock.monotonic_s() - INTERVALS_HELD * self._interval_s
        return {name: reading for name, reading in list(self._readings.items()) if reading.at_s >= oldest_s}

    def values_for(self, rule: Rule, groups: Mapping[str, frozenset[str]]) -> dict[str, float]:
        """Return the known values of the added metrics in a rule's condition."""
        readings = self.readings()
        found = {}
        for name in metrics_of(rule):
            if (one := readings.get(name)) is not None and one.judged:
                value = value_for(rule.target, one.series, groups)
                if value is not None:
                    found[name] = value
        return found

    def look(self) -> None:
        """Start due evaluations, and end the loops of removed metrics."""
        kept = {metric.name: metric for metric in self._kept.metrics()} if self._leads() else {}
        wanted = {
            name: metric
            for name, metric in kept.items()
            if metric.mode is not Mode.OFF and metric.source is not MetricSource.NONE
        }
        for name, loop in list(self._loops.items()):
            if name not in wanted or not loop.is_of(wanted[name]):
                del self._loops[name]
                loop.close()
                self._readings.pop(name, None)
        self._supervisor.keep_only(metric_controller(""), {metric.controller for metric in wanted.values()})
        now_s = self._clock.monotonic_s()
        for name, metric in wanted.items():
            loop = self._loops.setdefault(name, _MetricLoop(metric))
            if not loop.busy and loop.next_s <= now_s and self._supervisor.ready(metric.controller):
                loop.busy, loop.next_s = True, now_s + self._interval_s
                self._pool.submit(self._evaluate, loop)

    def _evaluate(self, loop: _MetricLoop) -> None:
        one = loop.metric
        try:
            with self._supervisor.run(one.controller):
                began_s = self._clock.monotonic_s()
                try:
                    series = loop.values(self._url, lambda: counters(self._traffic, self._interval_s))
                except MetricFault as fault:
                    raise Failure(str(fault)) from None
                took_s = self._clock.monotonic_s() - began_s
                if self._loops.get(one.name) is loop:
                    self._readings[one.name] = Reading(self._clock.monotonic_s(), took_s, series, one.mode is Mode.ON)
                    self._supervisor.record_action(one.controller, f"{len(series)} values in {took_s * 1000:.0f} ms")
        finally:
            loop.busy = False

    def _run(self) -> None:
        while not self._clock.wait(self._closing, _TICK_S):
            try:
                self.look()
            except (RequestRefusedError, SQLAlchemyError) as error:
                _log.debug("metrics are not evaluated: %s", error)
            except Exception:  # without this thread, no metric would be measured any more
                _log.exception("cannot evaluate metrics now")


class _MetricLoop:
    """One metric, and its program."""

    def __init__(self, metric: KeptMetric) -> None:
        self.metric = metric
        self.busy = False
        self.next_s = 0.0
        self._process: MetricProcess | None = None
        self._lock = threading.Lock()
        self._closed = False

    def is_of(self, metric: KeptMetric) -> bool:
        return metric == self.metric

    def values(self, url: str | None, rows: Callable[[], Any]) -> Series:
        """Return the present values. Raises MetricFault."""
        one = self.metric
        if one.source is MetricSource.PROMETHEUS:
            labels = one.attributes
            tenant = labels.get("tenant_label", TENANT_LABEL)
            return prometheus.ask(url, one.text, tenant, labels.get("container_label", CONTAINER_LABEL))
        with self._lock:
            if self._closed:
                raise MetricFault("the metric was removed")
            if self._process is None:
                self._process = MetricProcess(one.text)
            process = self._process
            try:
                return read_answer(process.evaluate(rows()))
            except MetricFault:
                process.close()
                self._process = None
                raise

    def close(self) -> None:
        """End the program after its present evaluation."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.close()
                self._process = None


def counters(traffic: Traffic, seconds: float) -> dict[str, Any]:
    """Return the input of a program: a duration in seconds, and rows of the counts within it."""
    covered_s, requests = traffic.recent(seconds)
    rows = sorted(requests.items(), key=lambda row: -row[1].count)[:ROWS_MAX]
    return {
        "seconds": covered_s,
        "rows": [
            {
                "tenant": subject.tenant,
                "container": subject.container,
                "method": subject.method,
                "proxy": subject.proxy,
                "answered": requests.answered,
                "refused": requests.refused,
                "failed": requests.failed,
                "read_bytes": requests.read_bytes,
                "written_bytes": requests.written_bytes,
                "latency_s": requests.latency_us / 1e6,
            }
            for subject, requests in rows
        ],
    }
