"""Prometheus metrics of the store's nodes."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from storage_controller.nodes.health import NodeState
from storage_controller.nodes.watch import StoreNodes


class NodeCollector(Collector):
    """Prometheus metrics of the nodes; unchecked nodes have none."""

    def __init__(self, nodes: StoreNodes) -> None:
        self._nodes = nodes

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        names = ["node", "kind"]
        state = GaugeMetricFamily(
            "zoe_storage_node_state", "1 for the present state of a node.", labels=[*names, "state"]
        )
        since = GaugeMetricFamily("zoe_storage_node_since_seconds", "When that state began.", labels=names)
        used = GaugeMetricFamily("zoe_storage_node_disk_used_ratio", "Used part of a disk.", labels=[*names, "disk"])
        waiting = GaugeMetricFamily(
            "zoe_storage_node_pending_updates", "Updates of listings that wait at an object server.", labels=names
        )
        apart = GaugeMetricFamily("zoe_storage_node_quarantined", "Quarantined objects or databases.", labels=names)
        replicated = GaugeMetricFamily(
            "zoe_storage_node_replicated_seconds", "When the last replication pass ended.", labels=names
        )
        for health in self._nodes.all():
            labels, found = [health.name, str(health.kind)], health.found
            if health.since_s is None:
                continue
            for other in NodeState:
                if other is not NodeState.UNKNOWN:
                    state.add_metric([*labels, str(other)], other is health.state)
            since.add_metric(labels, health.since_s)
            for disk in found.disks:
                if disk.used is not None:
                    used.add_metric([*labels, disk.name], disk.used)
            if found.recon:
                apart.add_metric(labels, found.quarantined)
            for family, value in ((waiting, found.pending), (replicated, found.replicated_s)):
                if value is not None:
                    family.add_metric(labels, value)
        yield from (state, since, used, waiting, apart, replicated)
