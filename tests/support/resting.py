"""Plans carried out at once on an unchanged cluster, tick after tick, apart from the scheduler's and master's code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.events import Placement, StartPlanned
from zoe_lib.domain.executions.execution import Execution, Service, ServiceState, service_id
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot


def changes(plan: Plan) -> bool:
    """Return whether the plan starts, gives or takes back anything."""
    return bool(plan.starts or plan.elastic or plan.preempt)


def carry_out(snapshot: Snapshot, plan: Plan) -> Snapshot:
    """Return the same moment after the plan: preempted services have ended and wait for a node again."""
    queued = tuple(e for e in snapshot.queued if e.id not in plan.starts)
    started = tuple(
        apply(e, StartPlanned(at_s=snapshot.now_s, placements=plan.starts[e.id]))
        for e in snapshot.queued
        if e.id in plan.starts
    )
    active = tuple(
        _given(_without(e, plan.preempt.get(e.id, ()), snapshot.now_s), plan.elastic.get(e.id, ()))
        for e in snapshot.active
    )
    return replace(snapshot, queued=queued, active=(*active, *started))


def ticks_to_rest(snapshot: Snapshot, policy: Policy) -> tuple[Snapshot, Plan, int] | None:
    """Return the snapshot at rest, its plan, and after how many ticks; None where it does not come to rest.

    A tick with changes starts a core, or takes room back for one that starts in the next tick, or gives the rest to
    elastic services after the last such start. So there are two for each waiting execution, and two more.
    """
    for tick in range(2 * len(snapshot.queued) + 3):
        plan = schedule(snapshot, policy)
        if not changes(plan):
            return snapshot, plan, tick
        snapshot = carry_out(snapshot, plan)
    return None


def _without(execution: Execution, preempted: Iterable[str], now_s: float) -> Execution:
    gone = set(preempted)
    successors = []
    services = []
    for service in execution.services:
        if service.id in gone:
            successors.append(_successor(execution, service))
            service = replace(service, state=ServiceState.ENDED, ended_at_s=now_s)  # noqa: PLW2901
        services.append(service)
    return replace(execution, services=(*services, *successors))


def _successor(execution: Execution, service: Service) -> Service:
    attempt = service.attempt + 1
    return replace(
        service,
        id=service_id(execution.id, service.component, service.index, attempt),
        attempt=attempt,
        state=ServiceState.CREATED,
        node=None,
        started_at_s=None,
    )


def _given(execution: Execution, placements: Iterable[Placement]) -> Execution:
    nodes: Mapping[str, str] = {p.service_id: p.node for p in placements}
    services = tuple(replace(s, node=nodes[s.id]) if s.id in nodes else s for s in execution.services)
    return replace(execution, services=services)
