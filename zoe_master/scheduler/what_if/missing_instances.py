"""Why fewer than the preferred instances of an execution run. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from zoe_client.words.amounts import cores, size
from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, ExecutionState, Service
from zoe_lib.domain.executions.instances import ComponentCounts, instance_counts
from zoe_lib.domain.lifecycle.consequences import wants_elastic
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_master.scheduler.ordering.booked import booked_ledger
from zoe_master.scheduler.ordering.limits import TenantReservations
from zoe_master.scheduler.ordering.queue import Pass
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.scheduler.placement.budget import GiveUp, never
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.placement.request import Request

_FROM_THEN_ON = "further instances start when there is room for them"


def planned_instances(execution: Execution, plan: Plan) -> tuple[ComponentCounts, ...]:
    """Return the counts of its components after the plan."""
    placements = (*plan.starts.get(execution.id, ()), *plan.elastic.get(execution.id, ()))
    return instance_counts(execution, {placement.service_id for placement in placements})


def missing_instances(
    snapshot: Snapshot, policy: Policy, execution: Execution, plan: Plan, too_late: GiveUp = never
) -> Reason | None:
    """Return why fewer than the preferred instances of its first such component run after the plan; None if enough do,
    or if it is stopping.

    `plan`: the pass over this snapshot, which places all that it can. Raises OutOfBudget.
    """
    short = next((count for count in planned_instances(execution, plan) if count.is_short), None)
    if short is None or execution.state is ExecutionState.STOPPING:
        return None
    component = execution.application.component(short.component)
    waiting = _waiting_services(execution, component, plan)
    if not waiting:
        return Reason(
            ReasonCode.RETRY_BACKOFF,
            f"Instances of {component.name} have failed too often, or are being stopped.",
            hint="`zoe show` lists them with their causes",
        )
    if not any(component.name == wanted.name for wanted, _ in wants_elastic(execution, snapshot.now_s)):
        return Reason(
            ReasonCode.RETRY_BACKOFF, f"Failed instances of {component.name} start again after a pause.", hint=""
        )
    return _why_refused(snapshot, policy, execution, component, plan, too_late)


def _waiting_services(execution: Execution, component: Component, plan: Plan) -> Sequence[Service]:
    placed = {p.service_id for p in (*plan.starts.get(execution.id, ()), *plan.elastic.get(execution.id, ()))}
    return [
        service
        for service in execution.elastic_services()
        if service.component == component.name and service.alive and service.node is None and service.id not in placed
    ]


def _why_refused(
    snapshot: Snapshot, policy: Policy, execution: Execution, component: Component, plan: Plan, too_late: GiveUp
) -> Reason:
    """Return what refuses one more instance on the nodes and within the limits that the plan leaves."""
    present, holdings = Pass.from_snapshot(snapshot, policy), TenantReservations(snapshot.active, policy)
    ledger = booked_ledger(snapshot, policy)
    placer = ServicePlacer(ledger, policy, present.span, too_late, present.leaves_s)
    executions = {e.id: e for e in (*snapshot.queued, *snapshot.active)}
    for placements in (plan.starts, plan.elastic, plan.reserved):
        for execution_id, places in placements.items():
            owner = executions[execution_id]
            for node, amount in ledger.holdings_at(owner, places):
                ledger.take(node, amount)
                holdings.take(owner, amount)
    wanted = f"Another instance of {component.name} needs {_size(component)}"
    limited = holdings.full_for(execution, component.reservation)
    if limited is not None:
        return holdings.refusal(execution, limited, wanted)
    begins_s, ends_s = placer.span(execution)
    request = Request(
        component,
        1,
        execution.tenant,
        execution.application.storage,
        begins_s,
        ends_s,
        policy.preemption == "elastic",
        leaves_s=placer.leaves_s(execution),
    )
    refused_by = placer.refused_by(request)
    if sum(refused_by.values()) == len(ledger.nodes):
        refused = ", ".join(f"{count} by {name}" for name, count in sorted(refused_by.items()))
        sentence = f"{wanted}, and no node has room for it" + (f" (refused: {refused})." if refused else ".")
        return Reason(ReasonCode.NO_RESOURCES, sentence, refused_by, _FROM_THEN_ON)
    return Reason(
        ReasonCode.BEHIND_IN_QUEUE,
        f"{wanted}; free room for it is kept for executions that wait, or is given in the next passes.",
        hint=_FROM_THEN_ON,
    )


def _size(component: Component) -> str:
    return f"{cores(component.reservation.cores_milli)} and {size(component.reservation.memory_bytes)}"
