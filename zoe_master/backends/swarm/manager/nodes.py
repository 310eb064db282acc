"""Nodes as the master sees them: Swarm's report, less foreign load, and whether they are usable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from zoe_client.words.amounts import count_with_noun
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.values.resources import NOTHING
from zoe_master.backends.engine.daemon.engine_events import EngineEvents
from zoe_master.backends.engine.daemon.engine_watches import EngineWatches
from zoe_master.backends.swarm.facts import NodeFacts
from zoe_master.backends.swarm.manager.exposure import NodeExposure
from zoe_master.backends.swarm.manager.fencing import NodeFences
from zoe_master.backends.swarm.manager.gateways import Gateways
from zoe_master.backends.swarm.manager.managers import Managers
from zoe_master.backends.swarm.manager.poller import Reconciler
from zoe_master.backends.swarm.manager.quorum import ManagerQuorum
from zoe_master.backends.swarm.manager.reservations import larger
from zoe_master.backends.swarm.services.task_registry import TaskRegistry
from zoe_master.backends.swarm.settings import SwarmSettings

MANAGERS_STUCK = "the swarm's managers answer, but carry out no changes"


@dataclass(frozen=True, slots=True)
class NodeView:
    """Combines the reports on each machine."""

    managers: Managers
    quorum: ManagerQuorum
    reconciler: Reconciler
    watches: EngineWatches
    registry: TaskRegistry
    gateways: Gateways
    fences: NodeFences
    exposure: NodeExposure
    settings: SwarmSettings

    def nodes(self) -> list[Node]:
        """Return one Node for each machine; one without an answering engine says so, and gets no new services."""
        own_containers = (
            Counter(record.node for record in self.registry.records() if not record.final) + self.gateways.by_node()
        )
        return [self._node(node, own_containers) for node in self.reconciler.nodes.values()]

    def _node(self, node: NodeFacts, own_containers: Mapping[str, int]) -> Node:
        watch = self.watches.get(node.name)
        obstacles = list(self._obstacles(node, watch))
        ready = node.available and not obstacles
        # All users whose executions wait for a node see why it is not ready; only operators see its reachable ports.
        warning = self.exposure.warning(node.name) if ready else ""
        return Node(
            name=node.name,
            total=node.total,
            foreign=larger(
                watch.foreign if watch is not None else NOTHING,
                self.reconciler.reserved_by_others.get(node.node_id, NOTHING),
            ),
            labels=node.labels,
            ready=ready,
            containers=own_containers.get(node.name, 0) + (watch.foreign_count if watch is not None else 0),
            message="; ".join(text for text in (node.message, *obstacles, warning) if text),
            gateway=self.settings.gateway_taken,
            addresses=node.addresses,
        )

    def _obstacles(self, node: NodeFacts, watch: EngineEvents | None) -> Iterator[str]:
        """Yield why a node must get no services although Swarm would place them, as text."""
        if problem := self.quorum.problem or (MANAGERS_STUCK if self.managers.stuck else ""):
            yield problem
        if watch is not None and watch.problem:
            yield watch.problem
        if watch is not None and watch.unfit:
            yield watch.unfit
        if fencing := self.fences.problem(node.name):
            yield fencing
        if node.name in self.reconciler.returning and not node.down:
            yield "it was down, and its engine has not yet reported what still runs on it"
        if watch is not None and (leftovers := self._leftovers(watch)):
            yield _remaining_services(leftovers, watch.reachable)

    def _leftovers(self, watch: EngineEvents) -> int:
        records = (self.registry.get(service) for service in watch.running())
        return sum(record is None or record.final for record in records)


def _remaining_services(left: int, reachable: bool) -> str:
    """Return lost services that still run there; they cannot be removed while its engine does not answer."""
    there = f"{count_with_noun(left, 'container')} of lost services {'is' if left == 1 else 'are'} still on it"
    return there + (" and being removed" if reachable else ", to be removed once its engine answers")
