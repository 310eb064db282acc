"""Best effort: what is left of the cluster goes to elastic services, in policy order and within tenants' limits."""

from __future__ import annotations

from collections.abc import Iterable

from zoe_lib.domain.consequences import wants_elastic
from zoe_lib.domain.events import Placement
from zoe_lib.domain.execution import Execution, ExecutionId
from zoe_master.scheduler.placement import Placer
from zoe_master.scheduler.request import Request
from zoe_master.scheduler.tenancy import Holdings


def give_elastic(
    executions: Iterable[Execution], placer: Placer, holdings: Holdings, now_s: float, placements_max: int
) -> dict[ExecutionId, tuple[Placement, ...]]:
    """Place as many elastic services as fit, execution by execution, at most `placements_max` in all."""
    result: dict[ExecutionId, tuple[Placement, ...]] = {}
    for execution in executions:
        placements = tuple(_of_one(execution, placer, holdings, now_s, placements_max))
        if placements:
            result[execution.id] = placements
            placements_max -= len(placements)
        if placements_max <= 0:
            break
    return result


def _of_one(
    execution: Execution, placer: Placer, holdings: Holdings, now_s: float, placements_max: int
) -> Iterable[Placement]:
    for component, services in wants_elastic(execution, now_s):
        count = min(len(services), placements_max)
        allowed = holdings.room_for(execution.tenant, component.reservation)
        count = count if allowed is None else min(count, allowed)
        begins_s, ends_s = placer.span(execution)
        wanted = Request(component, count, execution.tenant, execution.application.storage, begins_s, ends_s)
        nodes = placer.place(wanted)
        placements_max -= len(nodes)
        holdings.take(execution.tenant, component.reservation * len(nodes))
        for service, node in zip(services, nodes, strict=False):
            yield Placement(service_id=service.id, node=placer.ledger.nodes[node].name)
