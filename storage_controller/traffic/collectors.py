"""Prometheus metrics of requests and contents: totals, in bounded numbers of series."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from storage_controller.traffic.contents import Contents
from storage_controller.traffic.traffic import DIMENSIONS, Requests, Subject, Traffic, group_by, weight
from storage_filters.counting.request_counters import LATENCIES_S

_SERIES_MAX = 2000
FURTHER = "*"
"""Stands for all containers without a series."""


class TrafficCollector(Collector):
    """Totals of requests. Containers beyond the 2,000 with the most bytes are added up."""

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
        rows = _top_and_rest(totals)
        for key, requests in rows:
            if requests.cpu_us + requests.waited_us:
                cpu.add_metric(list(key), requests.cpu_us / 1e6)
                waited.add_metric(list(key), requests.waited_us / 1e6)
        latency = HistogramMetricFamily(
            "zoe_object_store_latency_seconds", "Time to the head of an answer.", labels=["tenant", "method"]
        )
        for latency_key, entry in group_by(totals, ("tenant", "method")).items():
            latency.add_metric([*latency_key], _buckets(entry), entry.latency_us / 1e6)
        yield from (*_amounts("", "at proxies", DIMENSIONS, rows), cpu, waited, latency)


class ContentsCollector(Collector):
    """Samples of contents, for the 2,000 containers with the most bytes."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        names = ("sampled", "Bytes of samples of stored bodies."), ("compressed", "Compressed bytes of the samples.")
        sampled, compressed = (
            CounterMetricFamily(f"zoe_object_store_content_{name}_bytes", text, labels=["tenant", "container"])
            for name, text in names
        )
        rows = sorted(self._contents.totals().items(), key=lambda row: -row[1].sampled)
        for place, entry in rows[:_SERIES_MAX]:
            sampled.add_metric(list(place), entry.sampled)
            compressed.add_metric(list(place), entry.compressed)
        yield from (sampled, compressed)


class CountsCollector(Collector):
    """Requests and bytes alone, for counters with another dimension instead of containers or proxies, as the labels
    say.
    """

    def __init__(self, traffic: Traffic, prefix: str, where: str, labels: Sequence[str]) -> None:
        self._traffic = traffic
        self._told = prefix, where, labels

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        yield from _amounts(*self._told, _top_and_rest(self._traffic.totals()))


_Rows = Sequence[tuple[tuple[str, ...], Requests]]


def _top_and_rest(totals: Mapping[Subject, Requests]) -> _Rows:
    """Return totals by all dimensions, and the remaining ones by all but the container."""
    named = sorted(group_by(totals, DIMENSIONS).items(), key=lambda row: weight(row[1]))
    rest: dict[tuple[str, ...], Requests] = {}
    for (tenant, _, method, proxy), requests in named[_SERIES_MAX:]:
        others = tenant, FURTHER, method, proxy
        rest[others] = rest[others] + requests if others in rest else requests
    return [*named[:_SERIES_MAX], *rest.items()]


def _amounts(prefix: str, where: str, labels: Sequence[str], rows: _Rows) -> tuple[Metric, Metric]:
    requests = CounterMetricFamily(
        f"zoe_object_store_{prefix}requests", f"Requests {where}.", labels=[*labels, "result"]
    )
    moved = CounterMetricFamily(
        f"zoe_object_store_{prefix}bytes", f"Bytes of bodies {where}.", labels=[*labels, "direction"]
    )
    for key, entry in rows:
        for result, count in (("answered", entry.answered), ("refused", entry.refused), ("failed", entry.failed)):
            requests.add_metric([*key, result], count)
        for direction, amount in (("read", entry.read_bytes), ("write", entry.written_bytes)):
            moved.add_metric([*key, direction], amount)
    return requests, moved


def _buckets(one: Requests) -> list[tuple[str, float]]:
    found, so_far = [], 0
    for bound, count in zip((*map(str, LATENCIES_S), "+Inf"), one.by_latency, strict=True):
        so_far += count
        found.append((bound, float(so_far)))
    return found
