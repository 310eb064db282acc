"""Replace failed guaranteed services before any other placement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from zoe_lib.domain.executions.events import Placement
from zoe_lib.domain.executions.execution import Execution, ExecutionId, Service
from zoe_lib.domain.executions.guaranteed import missing
from zoe_master.scheduler.backfill.reclaim import ElasticReclaim
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.placement.request import Request


def replace_missing(
    active: Iterable[Execution], placer: ServicePlacer, reclaim: ElasticReclaim
) -> dict[ExecutionId, tuple[Placement, ...]]:
    """Return new places for guaranteed services without one; where only elastic services of other executions are in the
    way, these are stopped, and the places follow in a later pass.
    """
    found: dict[ExecutionId, tuple[Placement, ...]] = {}
    for execution in active:
        if execution.promise is None:
            continue
        for name, services in missing(execution).items():
            component, (begins_s, ends_s) = execution.application.component(name), placer.span(execution)
            request = Request(
                component,
                len(services),
                execution.tenant,
                execution.application.storage,
                begins_s,
                ends_s,
                sure=True,
                leaves_s=placer.leaves_s(execution),
            )
            placed = _place(request, services, placer, reclaim)
            if placed:
                found[execution.id] = found.get(execution.id, ()) + placed
    return found


def _place(
    request: Request, services: Sequence[Service], placer: ServicePlacer, reclaim: ElasticReclaim
) -> tuple[Placement, ...]:
    amount, nodes = request.component.reservation, placer.place(request)
    reclaim.follow((node, amount) for node in nodes)
    rest = replace(request, count=request.count - len(nodes))
    if rest.count and len(reclaim.rooms()) > 1:
        widest = reclaim.rooms()[-1]
        later = widest.place(rest)
        widest.undo(rest, later)
        reclaim.hold([(node, amount) for node in later])
    names = (placer.ledger.nodes[node].name for node in nodes)
    return tuple(Placement(service_id=service.id, node=name) for service, name in zip(services, names, strict=False))
