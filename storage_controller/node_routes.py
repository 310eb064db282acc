"""The store's nodes under `/v1/nodes`: how each is, and restarts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fastapi import APIRouter
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from storage_controller.node_health import NodeState
from storage_controller.node_restarts import NodeRestarts
from storage_controller.node_watch import NodeHealth
from storage_controller.rule_routes import Author
from storage_controller.supervision import Mode


@dataclass(frozen=True, slots=True)
class StoreNodes:
    """How the nodes are, and what restarts them. mode_set: is told when their controller gets another mode."""

    all: Callable[[], Sequence[NodeHealth]]
    restarts: NodeRestarts
    mode_set: Callable[[Mode], None] = lambda _: None


def node_routes(nodes: StoreNodes) -> APIRouter:
    """`/v1/nodes`."""
    routes = APIRouter(prefix="/v1/nodes")

    def document(one: NodeHealth) -> dict[str, Any]:
        restart, found = nodes.restarts.last(one.name), one.found
        return {
            "name": one.name,
            "kind": one.kind,
            "state": one.state,
            "reason": one.reason,
            "since_s": one.since_s,
            "at_s": one.at_s,
            "latency_s": None if found.away or one.at_s is None else found.took_s,
            "recon": found.recon,
            "disks": [asdict(disk) for disk in found.disks],
            "quarantined": found.quarantined,
            "pending": found.pending,
            "replicated_s": found.replicated_s,
            "restartable": nodes.restarts.can(one.name),
            "restart": None if restart is None else asdict(restart),
        }

    @routes.get("")
    def listed() -> list[dict[str, Any]]:
        return [document(one) for one in nodes.all()]

    @routes.post("/{name}/restart", status_code=202)
    def restart(name: str, author: Author = None) -> dict[str, Any]:
        nodes.restarts.begin(name, author)
        return next(document(one) for one in nodes.all() if one.name == name)

    return routes


class NodeCollector(Collector):
    """The nodes as metrics for Prometheus; those that were not asked have none."""

    def __init__(self, nodes: StoreNodes) -> None:
        self._nodes = nodes

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        names = ["node", "kind"]
        state = GaugeMetricFamily(
            "zoe_storage_node_state", "1 for the state in which a node is.", labels=[*names, "state"]
        )
        since = GaugeMetricFamily("zoe_storage_node_since_seconds", "When that state began.", labels=names)
        used = GaugeMetricFamily("zoe_storage_node_disk_used_ratio", "Used part of a disk.", labels=[*names, "disk"])
        waiting = GaugeMetricFamily(
            "zoe_storage_node_pending_updates", "Updates of listings that wait at an object server.", labels=names
        )
        apart = GaugeMetricFamily(
            "zoe_storage_node_quarantined", "Objects or databases that were set aside.", labels=names
        )
        replicated = GaugeMetricFamily(
            "zoe_storage_node_replicated_seconds", "When the last replication pass ended.", labels=names
        )
        for one in self._nodes.all():
            labels, found = [one.name, str(one.kind)], one.found
            if one.since_s is None:
                continue
            for other in NodeState:
                if other is not NodeState.UNKNOWN:
                    state.add_metric([*labels, str(other)], other is one.state)
            since.add_metric(labels, one.since_s)
            for disk in found.disks:
                if disk.used is not None:
                    used.add_metric([*labels, disk.name], disk.used)
            if found.recon:
                apart.add_metric(labels, found.quarantined)
            for family, value in ((waiting, found.pending), (replicated, found.replicated_s)):
                if value is not None:
                    family.add_metric(labels, value)
        yield from (state, since, used, waiting, apart, replicated)
