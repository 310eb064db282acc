"""Invariants of a cluster at rest: no idle resources that the policy lets an execution use, and true reasons.

Counted by exact packing over plain lists, apart from the scheduler's code.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from lab.invariants.limits import limit_problems, line_problems
from lab.invariants.queue import queue_problems
from lab.invariants.reservations import passing_problems, reservation_problems
from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.applications.exact_packing import Allowed, PlacementShortage, StepBudget, pack_exactly
from zoe_lib.domain.cluster.cluster import Node, gateway_reservation
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, Mark
from zoe_lib.domain.executions.gateway import core_groups, held_resources
from zoe_lib.domain.executions.promises import Rates, required_rates
from zoe_lib.domain.values.reasons import NOT_SHOWN_TO_FIT, Reason, ReasonCode, holds_up_others
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.ordering.queue import Pass, queue_sequence
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot

STEPS_MAX = 2_000
Room = dict[str, Resources]


class AtRest:
    """One cluster at rest. `cut`: how often the limit of the exact search was reached: its result is unknown."""

    def __init__(self, snapshot: Snapshot, policy: Policy, plan: Plan) -> None:
        self.cut = 0
        self._snapshot, self._policy, self._plan = snapshot, policy, plan
        self._nodes = {node.name: node for node in snapshot.nodes}
        self._gateway = gateway_reservation(snapshot.nodes)

    def problems(self) -> Iterator[str]:
        """Return the problems, in words."""
        case = (self._snapshot, self._policy, self._plan)
        if self._plan.reserved:
            yield f"places are kept for {set(self._plan.reserved)} for ever"
        for name, room in self._left(without_elastic=False).items():
            if min(room.cores_milli, room.memory_bytes, *room.devices.values()) < 0:
                yield f"{name} is over-committed"
        yield from queue_problems(*case)
        yield from limit_problems(*case)
        yield from line_problems(*case)
        yield from passing_problems(*case)
        yield from reservation_problems(*case)
        if not self._protected() and (idle := self._idle_elastic()) is not None:
            yield f"{idle} has room and gets none"
        for execution in self._snapshot.queued:
            yield from self._of_reason(execution, self._plan.reasons[execution.id])
        yield from self._of_bandwidth()

    def _of_reason(self, execution: Execution, reason: Reason) -> Iterator[str]:
        open_to_it, anywhere = self._open_to(execution), self._labelled
        totals = {name: node.total for name, node in self._nodes.items()}
        usable = {name: node.usable for name, node in self._nodes.items()}
        match reason.code:
            case ReasonCode.NO_RESOURCES | ReasonCode.NO_NODES:
                left = self._left(without_elastic=self._policy.preemption == "elastic")
                if self._fits(execution, left, open_to_it):
                    yield f"{execution.id} fits, and waits for room"
                lasts = reason.code is ReasonCode.NO_RESOURCES and reason.hint != NOT_SHOWN_TO_FIT
                if lasts and not self._may_fit(execution, usable, open_to_it):
                    yield f"{execution.id} waits for room, and no end of others would give it any"
            case ReasonCode.NEVER_FITS:
                if self._fits(execution, totals, anywhere):
                    yield f"{execution.id} is said never to fit, and would"
            case ReasonCode.NODES_AWAY | ReasonCode.WINDOW_AHEAD:
                if self._fits(execution, usable, open_to_it):
                    yield f"{execution.id} waits for nodes that it does not need"
            case ReasonCode.FOREIGN_USE:
                if self._fits(execution, usable, open_to_it):
                    yield f"{execution.id} waits for other programs, and needs none of their room"
                if not self._may_fit(execution, totals, open_to_it):
                    yield f"{execution.id} waits for other programs, which would not help"
            case ReasonCode.BEHIND_IN_QUEUE:
                if not any(holds_up_others(self._plan.reasons[e.id]) for e in self._snapshot.queued):
                    yield f"{execution.id} is behind no other"

    def _of_bandwidth(self) -> Iterator[str]:
        """Check that the first execution in the bandwidth line does not fit beside running ones and the reservation of
        the first one in line for room.
        """
        waiting = [
            e
            for e in queue_sequence(Pass.from_snapshot(self._snapshot, self._policy))
            if self._plan.reasons[e.id].code is ReasonCode.STORAGE_BANDWIDTH
        ]
        supply = self._snapshot.storage
        if not waiting or supply is None:
            return
        head = [e for e in self._snapshot.queued if holds_up_others(self._plan.reasons[e.id])]
        keeping = [*self._snapshot.active, *head]
        guaranteed = [wanted for e in keeping if (wanted := required_rates(e.application)) is not None]
        free = supply.rates - sum(guaranteed, Rates())
        wanted = required_rates(waiting[0].application)
        if wanted is None or wanted.fits_in(free):
            yield f"{waiting[0].id} waits for bandwidth that there is"

    def _fits(self, execution: Execution, room: Room, allowed: Allowed) -> bool:
        found = self._packed(execution, room, allowed)
        self.cut += found is PlacementShortage.NOT_SHOWN
        return not isinstance(found, PlacementShortage)

    def _may_fit(self, execution: Execution, room: Room, allowed: Allowed) -> bool:
        return self._packed(execution, room, allowed) is not PlacementShortage.PROVEN

    def _packed(self, execution: Execution, room: Room, allowed: Allowed) -> list[list[str]] | PlacementShortage:
        groups = core_groups(execution.application, self._gateway)
        return pack_exactly(groups, room, allowed, StepBudget(STEPS_MAX))

    def _labelled(self, one: Component, name: str) -> bool:
        return all(self._nodes[name].labels.get(key) == label for key, label in one.labels)

    def _open_to(self, execution: Execution) -> Allowed:
        now_s = self._snapshot.now_s
        run_s = execution.application.expected_run_s
        begins_s = execution.marks.get(Mark.PLACED, now_s)
        ends_s = math.inf if run_s is None else max(begins_s + run_s, now_s)
        nodes = {name for name, node in self._nodes.items() if node.open_to(execution.tenant, now_s, ends_s)}
        return lambda component, name: name in nodes and self._labelled(component, name)

    def _left(self, without_elastic: bool) -> Room:
        left = {name: node.usable for name, node in self._nodes.items()}
        for execution in self._snapshot.active:
            for service, amount in held_resources(execution, self._gateway):
                if service.node is not None and (service.core or not without_elastic):
                    left[service.node] -= amount
        return left

    def _protected(self) -> bool:
        """Return whether elastic services, which are never taken back, must leave the first waiting execution its room,
        or the rest of a limit.
        """
        policy = self._policy
        promising = policy.backfill != "none" or policy.tenant_limits or policy.user_limits
        return policy.preemption == "none" and bool(promising) and bool(self._plan.reasons)

    def _idle_elastic(self) -> str | None:
        """Return an elastic service of a running execution that could be placed within all limits."""
        left = self._left(without_elastic=False)
        for execution in self._snapshot.active:
            allowed = self._open_to(execution)
            for service in execution.elastic_services():
                one = execution.component_of(service)
                fits = any(allowed(one, name) and one.reservation.fits_in(room) for name, room in left.items())
                if service.node is None and fits and self._within_limits(execution, one):
                    return service.id
        return None

    def _within_limits(self, execution: Execution, one: Component) -> bool:
        def taken(executions: list[Execution]) -> int:
            return sum(
                e.component_of(s).reservation.cores_milli
                for e in executions
                for s in e.services
                if s.alive and s.node is not None
            )

        policy = self._policy
        of_tenant = [e for e in self._snapshot.active if e.tenant == execution.tenant]
        of_user = [e for e in of_tenant if e.user == execution.user]
        tenant = policy.tenant_limits.get(execution.tenant) or policy.tenant_limits.get("*", {})
        user = policy.user_limits.get("*", {})
        wanted = one.reservation.cores_milli
        pairs = ((tenant, of_tenant), (user, of_user))
        return all(
            (most := limit.get("cores_milli")) is None or taken(theirs) + wanted <= most for limit, theirs in pairs
        )


def carries(one: Component, here: Node) -> bool:
    """Whether a node is ready and has the labels."""
    return here.ready and all(here.labels.get(key) == label for key, label in one.labels)
