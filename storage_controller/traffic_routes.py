"""Requests at the proxies: rates under `/v1/traffic`, and totals for Prometheus under `/metrics`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from storage_controller.answers import Refused
from storage_controller.contents import Contents
from storage_controller.traffic import DIMENSIONS, WINDOW_S_MAX, Dimension, Requests, Subject, Traffic, grouped
from storage_filters.request_counters import LATENCIES_S

ROWS_MAX = 1000
_SERIES_MAX = 2000
FURTHER = "*"
"""Stands for all containers beyond those that the metrics name."""
Asked = Literal["tenant", "key", "container", "method", "proxy", "node"]
ASKED: tuple[Asked, ...] = ("tenant", "key", "container", "method", "proxy", "node")
"""By what rates are added up, in the order in which they are told."""


def traffic_routes(traffic: Traffic, of_signers: Traffic, of_nodes: Traffic, *further: Collector) -> APIRouter:
    """Return both routes; `further` are told under `/metrics`, too. of_signers: where who signs stands for containers;
    of_nodes: where object servers stand for proxies.
    """
    routes = APIRouter()
    registry = CollectorRegistry()
    own = (
        TrafficCollector(traffic),
        CountsCollector(of_signers, "key_", "by who signs them", ("tenant", "key", "method", "proxy")),
        CountsCollector(of_nodes, "node_", "at object servers", ("tenant", "container", "method", "node")),
    )
    for collector in (*own, *further):
        registry.register(collector)

    @routes.get("/v1/traffic")
    def recent(
        by: Annotated[list[Asked], Query(max_length=len(ASKED))] = list(DIMENSIONS),  # noqa: B006
        seconds: Annotated[float, Query(gt=0, le=WINDOW_S_MAX)] = 10.0,
        tenant: Annotated[str | None, Query(max_length=256)] = None,
    ) -> dict[str, Any]:
        """Return rates of the last seconds, those that move most first."""
        if (why := together(by)) is not None:
            raise Refused(422, why)
        names = [name for name in ASKED if name in by]
        counted = of_signers if "key" in by else of_nodes if "node" in by else traffic
        covered_s, requests = counted.recent(seconds)
        mine = {subject: one for subject, one in requests.items() if tenant in (None, subject.tenant)}
        rows = sorted(grouped(mine, map(_dimension, names)).items(), key=lambda r: _weight(r[1]))
        return {
            "seconds": covered_s,
            "rows": [{**dict(zip(names, key, strict=True)), **_rates(one, covered_s)} for key, one in rows[:ROWS_MAX]],
            "left_out": max(len(rows) - ROWS_MAX, 0),
        }

    @routes.get("/metrics")
    def metrics() -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    return routes


def _dimension(asked: Asked) -> Dimension:
    """Return where counters have it: who signs stands for a container, an object server for a proxy."""
    match asked:
        case "key":
            return "container"
        case "node":
            return "proxy"
        case _:
            return asked


def together(by: Collection[str]) -> str | None:
    """Return why these dimensions are not counted together; None if they are."""
    if "key" in by and {"container", "node"} & {*by}:
        return "who signs requests is counted without their containers, and not at nodes"
    if "node" in by and "proxy" in by:
        return "nodes do not know through which proxy requests came"
    return None


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
        cpu = CounterMetricFamily("zoe_object_store_cpu_seconds", "CPU time of filters and views.", labels=DIMENSIONS)
        waited = CounterMetricFamily(
            "zoe_object_store_cpu_wait_seconds",
            "Time in which requests waited for their tenant's bound.",
            labels=DIMENSIONS,
        )
        rows = _named(totals)
        for key, one in rows:
            if one.cpu_us + one.waited_us:
                cpu.add_metric(list(key), one.cpu_us / 1e6)
                waited.add_metric(list(key), one.waited_us / 1e6)
        latency = HistogramMetricFamily(
            "zoe_object_store_latency_seconds", "Time to the head of an answer.", labels=["tenant", "method"]
        )
        for latency_key, one in grouped(totals, ("tenant", "method")).items():
            latency.add_metric([*latency_key], _buckets(one), one.latency_us / 1e6)
        yield from (*_amounts("", "at proxies", DIMENSIONS, rows), cpu, waited, latency)


class ContentsCollector(Collector):
    """Samples of contents as metrics: those of the 2,000 containers with the most."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        names = ("sampled", "Bytes of samples of what is stored."), ("compressed", "What compression makes of them.")
        sampled, compressed = (
            CounterMetricFamily(f"zoe_object_store_content_{name}_bytes", text, labels=["tenant", "container"])
            for name, text in names
        )
        rows = sorted(self._contents.totals().items(), key=lambda row: -row[1].sampled)
        for place, one in rows[:_SERIES_MAX]:
            sampled.add_metric(list(place), one.sampled)
            compressed.add_metric(list(place), one.compressed)
        yield from (sampled, compressed)


class CountsCollector(Collector):
    """Requests and bytes alone, of counters in which others stand for containers or proxies, as the labels say."""

    def __init__(self, traffic: Traffic, prefix: str, where: str, labels: Sequence[str]) -> None:
        self._traffic = traffic
        self._told = prefix, where, labels

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        yield from _amounts(*self._told, _named(self._traffic.totals()))


_Rows = Sequence[tuple[tuple[str, ...], Requests]]


def _named(totals: Mapping[Subject, Requests]) -> _Rows:
    """Return totals by all dimensions, and those beyond the most by all but the container."""
    named = sorted(grouped(totals, DIMENSIONS).items(), key=lambda row: _weight(row[1]))
    rest: dict[tuple[str, ...], Requests] = {}
    for (tenant, _, method, proxy), one in named[_SERIES_MAX:]:
        others = tenant, FURTHER, method, proxy
        rest[others] = rest[others] + one if others in rest else one
    return [*named[:_SERIES_MAX], *rest.items()]


def _amounts(prefix: str, where: str, labels: Sequence[str], rows: _Rows) -> tuple[Metric, Metric]:
    requests = CounterMetricFamily(
        f"zoe_object_store_{prefix}requests", f"Requests {where}.", labels=[*labels, "result"]
    )
    moved = CounterMetricFamily(
        f"zoe_object_store_{prefix}bytes", f"Bytes of bodies {where}.", labels=[*labels, "direction"]
    )
    for key, one in rows:
        for result, count in (("answered", one.answered), ("refused", one.refused), ("failed", one.failed)):
            requests.add_metric([*key, result], count)
        for direction, amount in (("read", one.read_bytes), ("write", one.written_bytes)):
            moved.add_metric([*key, direction], amount)
    return requests, moved


def _buckets(one: Requests) -> list[tuple[str, float]]:
    found, so_far = [], 0
    for bound, count in zip((*map(str, LATENCIES_S), "+Inf"), one.by_latency, strict=True):
        so_far += count
        found.append((bound, float(so_far)))
    return found
