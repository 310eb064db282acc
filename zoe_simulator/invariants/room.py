"""What is free by a plan, counted anew and in the plainest way."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import groupby

from zoe_lib.domain.cluster import Node, gateway_reservation, lacks_labels
from zoe_lib.domain.events import Placement
from zoe_lib.domain.execution import Execution, ExecutionState, Service, ServiceState
from zoe_lib.domain.gateway import core_groups, wanted
from zoe_lib.domain.gateway import held as held_by
from zoe_lib.domain.limits import LimitSubject
from zoe_lib.domain.policy import Policy
from zoe_lib.domain.resources import Resources, total
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot

# When it comes free, on which node, how much.
Release = tuple[float, str, Resources]


class Room:
    """Free amounts by node. Nodes that are not ready, or that an admin holds, have none: so a yes is certain."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._nodes = {node.name: node for node in nodes if node.ready and node.hold is None}
        self.gateway = gateway_reservation(self._nodes.values())
        self.free = {name: node.usable for name, node in self._nodes.items()}

    def take(self, node: str | None, amount: Resources) -> None:
        """Somebody holds this."""
        if node in self.free:
            self.free[node] -= amount

    def give(self, node: str, amount: Resources) -> None:
        """Somebody holds this no more."""
        if node in self.free:
            self.free[node] += amount

    def fits(self, execution: Execution) -> bool:
        """Whether its core surely fits; no for a core of several kinds, of which counting cannot tell."""
        groups = core_groups(execution.application, self.gateway)
        if len(groups) != 1:
            return False
        component, count = groups[0]
        nodes = [n for n in self._nodes.values() if lacks_labels(component, n) is None]
        return sum(_how_often(component.reservation, self.free[n.name]) for n in nodes) >= count


def room_of(snapshot: Snapshot, plan: Plan, *, elastic_absent: bool, leaving_absent: bool = False) -> Room:
    """What is free beside all that holds something, what the plan starts, and what it keeps.

    With `elastic_absent`, elastic services hold nothing; with `leaving_absent`, nor does what was asked to stop.
    """
    room = Room(snapshot.nodes)
    for execution in snapshot.active:
        for service, amount in held_by(execution, room.gateway):
            if not ((elastic_absent and not service.core) or (leaving_absent and leaving(execution, service))):
                room.take(service.node, amount)
    for execution, placement in planned(snapshot, plan):
        service = execution.service(placement.service_id)
        if service.core or not elastic_absent:
            room.take(placement.node, wanted(execution, service, room.gateway))
    return room


def counts_for(execution: Execution, holder: LimitSubject) -> bool:
    """Whether what an execution holds counts for a tenant's or a user's limit."""
    return execution.tenant == holder.tenant and holder.user in (None, execution.user)


def cores_of(snapshot: Snapshot, plan: Plan, holder: LimitSubject) -> Resources:
    """What a holder's services hold, without elastic ones on nodes that are there, and its cores of the plan."""
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
        for execution, placement in planned(snapshot, plan)
        if counts_for(execution, holder) and execution.service(placement.service_id).core
    ]
    return total([*held, *placed])


def planned(snapshot: Snapshot, plan: Plan) -> Iterator[tuple[Execution, Placement]]:
    """Every placement of the plan that is for one of the queue, reserved ones too."""
    for execution in snapshot.queued:
        for placement in (*plan.starts.get(execution.id, ()), *plan.reserved.get(execution.id, ())):
            yield execution, placement


def expected_start_s(snapshot: Snapshot, policy: Policy, plan: Plan, waiting: Execution) -> float:
    """When its core surely fits by the estimates if nothing else starts; infinite when that cannot be told.

    What leaves, and elastic services that give way, could be gone at once.
    """
    room = room_of(snapshot, plan, elastic_absent=policy.preemption == "elastic", leaving_absent=True)
    for at_s, releases in groupby(sorted(_releases(snapshot, policy, plan), key=_time), key=_time):
        for _, node, amount in releases:
            room.give(node, amount)
        if room.fits(waiting):
            return at_s
    return math.inf


def _releases(snapshot: Snapshot, policy: Policy, plan: Plan) -> Iterator[Release]:
    """Expected ends of all that `room_of` counts as held; what is kept for a core, as if it started now."""
    estimates, now_s = snapshot.estimates(), snapshot.now_s
    gives_way = policy.preemption == "elastic"
    gateway = gateway_reservation(snapshot.nodes)
    for execution in snapshot.active:
        for service, amount in held_by(execution, gateway):
            if service.node is not None and not leaving(execution, service) and (service.core or not gives_way):
                yield estimates.release_s(execution, now_s), service.node, amount
    for execution, placement in planned(snapshot, plan):
        service = execution.service(placement.service_id)
        if service.core or not gives_way:
            yield now_s + estimates.guess_s(execution), placement.node, wanted(execution, service, gateway)


def leaving(execution: Execution, service: Service) -> bool:
    """Whether it was asked to stop."""
    return service.state is ServiceState.STOPPING or execution.state is ExecutionState.STOPPING


def _time(release: Release) -> float:
    return release[0]


def _how_often(each: Resources, free: Resources) -> int:
    """How many times an amount fits into another."""
    pairs = [(each.cores_milli, free.cores_milli), (each.memory_bytes, free.memory_bytes)]
    pairs += [(pieces, free.devices.get(kind, 0)) for kind, pieces in each.devices.items()]
    return min((max(there, 0) // needed if needed else 10**9 if there >= 0 else 0) for needed, there in pairs)
