"""Requests at the proxies: rates under `/v1/traffic`, and totals for Prometheus under `/metrics`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from storage_controller.traffic import DIMENSIONS, WINDOW_S_MAX, Dimension, Requests, Traffic, grouped
from storage_filters.request_counters import LATENCIES_S

ROWS_MAX = 1000
_SERIES_MAX = 2000
FURTHER = "*"
"""Stands for all containers beyond those that the metrics name."""


def traffic_routes(traffic: Traffic, *further: Collector) -> APIRouter:
    """Return both routes; `further` are told under `/metrics`, too."""
    routes = APIRouter()
    registry = CollectorRegistry()
    for collector in (TrafficCollector(traffic), *further):
        registry.register(collector)

    @routes.get("/v1/traffic")
    def recent(
        by: Annotated[list[Dimension], Query(max_length=len(DIMENSIONS))] = list(DIMENSIONS),  # noqa: B006
        seconds: Annotated[float, Query(gt=0, le=WINDOW_S_MAX)] = 10.0,
        tenant: Annotated[str | None, Query(max_length=256)] = None,
    ) -> dict[str, Any]:
        """Return rates of the last seconds, those that move most first."""
        names = [name for name in DIMENSIONS if name in by]
        covered_s, requests = traffic.recent(seconds)
        mine = {subject: one for subject, one in requests.items() if tenant in (None, subject.tenant)}
        rows = sorted(grouped(mine, names).items(), key=lambda row: _weight(row[1]))
        return {
            "seconds": covered_s,
            "rows": [{**dict(zip(names, key, strict=True)), **_rates(one, covered_s)} for key, one in rows[:ROWS_MAX]],
            "left_out": max(len(rows) - ROWS_MAX, 0),
        }

    @routes.get("/metrics")
    def metrics() -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    return routes


def _weight(requests: Requests) -> tuple[int, int, int]:
    return -(requests.read_bytes + requests.written_bytes), -requests.count, -requests.cpu_us


def _rates(one: Requests, seconds: float) -> Mapping[str, float | None]:
    return {
        "requests_per_s": one.count / seconds,
        "refused_per_s": one.refused / seconds,
        "failed_per_s": one.failed / seconds,
        "read_bytes_per_s": one.read_bytes / seconds,
        "write_bytes_per_s": one.written_bytes / seconds,
        "cpu_s_per_s": one.cpu_us / 1e6 / seconds,
        "cpu_wait_s_per_s": one.waited_us / 1e6 / seconds,
        "mean_latency_s": one.latency_us / 1e6 / one.count if one.count else None,
    }


class TrafficCollector(Collector):
    """The totals as metrics. Containers beyond the 2,000 with the most bytes are added up."""

    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        totals = self._traffic.totals()
        labels = [*map(str, DIMENSIONS)]
        requests = CounterMetricFamily("zoe_object_store_requests", "Requests.", labels=[*labels, "result"])
        moved = CounterMetricFamily("zoe_object_store_bytes", "Bytes of bodies.", labels=[*labels, "direction"])
        cpu = CounterMetricFamily("zoe_object_store_cpu_seconds", "CPU time of filters and views.", labels=labels)
        waited = CounterMetricFamily(
            "zoe_object_store_cpu_wait_seconds",
            "Time in which requests waited for their tenant's bound.",
            labels=labels,
        )
        named = sorted(grouped(totals, DIMENSIONS).items(), key=lambda row: _weight(row[1]))
        rest: dict[tuple[str, ...], Requests] = {}
        for key, one in named[_SERIES_MAX:]:
            tenant, _, method, proxy = key
            others = tenant, FURTHER, method, proxy
            rest[others] = rest[others] + one if others in rest else one
        for key, one in (*named[:_SERIES_MAX], *rest.items()):
            for result, count in (("answered", one.answered), ("refused", one.refused), ("failed", one.failed)):
                requests.add_metric([*key, result], count)
            for direction, amount in (("read", one.read_bytes), ("write", one.written_bytes)):
                moved.add_metric([*key, direction], amount)
            if one.cpu_us + one.waited_us:
                cpu.add_metric(list(key), one.cpu_us / 1e6)
                waited.add_metric(list(key), one.waited_us / 1e6)
        latency = HistogramMetricFamily(
            "zoe_object_store_latency_seconds", "Time to the head of an answer.", labels=["tenant", "method"]
        )
        for latency_key, one in grouped(totals, ("tenant", "method")).items():
            latency.add_metric([*latency_key], _buckets(one), one.latency_us / 1e6)
        yield from (requests, moved, cpu, waited, latency)


def _buckets(one: Requests) -> list[tuple[str, float]]:
    found, so_far = [], 0
    for bound, count in zip((*map(str, LATENCIES_S), "+Inf"), one.by_latency, strict=True):
        so_far += count
        found.append((bound, float(so_far)))
    return found
