"""Free amounts under a plan, computed again in the plainest way."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import groupby

from zoe_lib.domain.cluster.cluster import Node, gateway_reservation, lacks_labels
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.events import Placement
from zoe_lib.domain.executions.execution import Execution, ExecutionState, Service, ServiceState
from zoe_lib.domain.executions.gateway import core_groups, required_resources
from zoe_lib.domain.executions.gateway import held_resources as held_by
from zoe_lib.domain.executions.limits import LimitSubject
from zoe_lib.domain.values.resources import Resources, total
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot

# Time, node and amount of a release.
Release = tuple[float, str, Resources]


class Room:
    """Free amounts by node. Nodes that are not ready, or held by an admin, have none: so a yes is certain."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._nodes = {node.name: node for node in nodes if node.ready and not node.holds}
        self.gateway = gateway_reservation(self._nodes.values())
        self.free = {name: node.usable for name, node in self._nodes.items()}

    def take(self, node: str | None, amount: Resources) -> None:
        """Subtract a used amount."""
        if node in self.free:
            self.free[node] -= amount

    def give(self, node: str, amount: Resources) -> None:
        """Add a released amount."""
        if node in self.free:
            self.free[node] += amount

    def has_room_for(self, execution: Execution) -> bool:
        """Return whether its core certainly fits; False for a core of several kinds, for which counting is not
        conclusive.
        """
        groups = core_groups(execution.application, self.gateway)
        if len(groups) != 1:
            return False
        component, count = groups[0]
        nodes = [n for n in self._nodes.values() if lacks_labels(component, n) is None]
        return sum(_how_often(component.reservation, self.free[n.name]) for n in nodes) >= count


def room_of(snapshot: Snapshot, plan: Plan, *, elastic_absent: bool, leaving_absent: bool = False) -> Room:
    """Return the free amounts beside present reservations, the plan's starts, and the places that it keeps.

    With `elastic_absent`, elastic services hold nothing; with `leaving_absent`, neither do services that are stopping.
    """
    room = Room(snapshot.nodes)
    for execution in snapshot.active:
        for service, amount in held_by(execution, room.gateway):
            if not ((elastic_absent and not service.core) or (leaving_absent and leaving(execution, service))):
                room.take(service.node, amount)
    for execution, placement in planned_placements(snapshot, plan):
        service = execution.service(placement.service_id)
        if service.core or not elastic_absent:
            room.take(placement.node, required_resources(execution, service, room.gateway))
    return room


def counts_for(execution: Execution, holder: LimitSubject) -> bool:
    """Return whether an execution counts for a tenant's or a user's limit."""
    return execution.tenant == holder.tenant and holder.user in (None, execution.user)


def cores_of(snapshot: Snapshot, plan: Plan, holder: LimitSubject) -> Resources:
    """Return the resources of a holder's services, without elastic ones on present nodes, and of its cores in the
    plan.
    """
    there = {node.name for node in snapshot.nodes}
    held = [
        execution.component_of(service).reservation
        for execution in snapshot.active
        for service in execution.services
        if counts_for(execution, holder) and service.node is not None and service.alive
        if service.core or service.node not in there
    ]
    placed = [
        execution.component_of(execution.service(placement.service_id)).reservation
        for execution, placement in planned_placements(snapshot, plan)
        if counts_for(execution, holder) and execution.service(placement.service_id).core
    ]
    return total([*held, *placed])


def planned_placements(snapshot: Snapshot, plan: Plan) -> Iterator[tuple[Execution, Placement]]:
    """Yield every placement of the plan for an execution of the queue, including reserved ones."""
    for execution in snapshot.queued:
        for placement in (*plan.starts.get(execution.id, ()), *plan.reserved.get(execution.id, ())):
            yield execution, placement


def expected_start_s(snapshot: Snapshot, policy: Policy, plan: Plan, waiting: Execution) -> float:
    """Return when its core certainly fits by the estimates if nothing else starts; infinite if unknown.

    Services that are stopping, and elastic services that are preempted, could be gone at once.
    """
    room = room_of(snapshot, plan, elastic_absent=policy.preemption == "elastic", leaving_absent=True)
    for at_s, releases in groupby(sorted(_releases(snapshot, policy, plan), key=_time), key=_time):
        for _, node, amount in releases:
            room.give(node, amount)
        if room.has_room_for(waiting):
            return at_s
    return math.inf


def _releases(snapshot: Snapshot, policy: Policy, plan: Plan) -> Iterator[Release]:
    """Return expected ends of everything that `room_of` counts as held; kept places count as if they started now."""
    estimates, now_s = snapshot.estimates(limits_first=policy.limits_first), snapshot.now_s
    gives_way = policy.preemption == "elastic"
    gateway = gateway_reservation(snapshot.nodes)
    for execution in snapshot.active:
        for service, amount in held_by(execution, gateway):
            if service.node is not None and not leaving(execution, service) and (service.core or not gives_way):
                yield estimates.release_s(execution, now_s), service.node, amount
    for execution, placement in planned_placements(snapshot, plan):
        service = execution.service(placement.service_id)
        if service.core or not gives_way:
            yield now_s + estimates.guess_s(execution), placement.node, required_resources(execution, service, gateway)


def leaving(execution: Execution, service: Service) -> bool:
    """Return whether it is stopping."""
    return service.state is ServiceState.STOPPING or execution.state is ExecutionState.STOPPING


def _time(release: Release) -> float:
    return release[0]


def _how_often(each: Resources, free: Resources) -> int:
    """Return how many times an amount fits into another."""
    pairs = [(each.cores_milli, free.cores_milli), (each.memory_bytes, free.memory_bytes)]
    pairs += [(pieces, free.devices.get(kind, 0)) for kind, pieces in each.devices.items()]
    return min((max(there, 0) // needed if needed else 10**9 if there >= 0 else 0) for needed, there in pairs)
