"""Best effort: give elastic services what is left of the cluster, within the limits of tenants and users."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice

from zoe_lib.domain.application import Component
from zoe_lib.domain.consequences import wants_elastic
from zoe_lib.domain.events import Placement
from zoe_lib.domain.execution import Execution, ExecutionId, Service
from zoe_lib.domain.resources import Resources
from zoe_master.scheduler.backfill.growth import ElasticGrowth
from zoe_master.scheduler.ordering.limits import TenantReservations
from zoe_master.scheduler.ordering.tenancy import TenantTurns, by_tenant, in_turns
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.placement.request import Request

Given = dict[ExecutionId, tuple[Placement, ...]]


def give_elastic(
    executions: Iterable[Execution],
    placer: ServicePlacer,
    holdings: TenantReservations,
    now_s: float,
    placements_max: int,
    growth: ElasticGrowth | None = None,
) -> Given:
    """Place as many elastic services as fit, execution by execution in policy order, at most `placements_max`.

    Without `growth`, every place is allowed.
    """
    result: Given = {}
    for execution in executions:
        placements = tuple(_of_one(execution, placer, holdings, now_s, placements_max, growth))
        if placements:
            result[execution.id] = placements
            placements_max -= len(placements)
        if placements_max <= 0:
            break
    return result


def give_elastic_in_turns(
    executions: Iterable[Execution],
    placer: ServicePlacer,
    holdings: TenantReservations,
    turns: TenantTurns,
    now_s: float,
    placements_max: int,
    growth: ElasticGrowth | None = None,
) -> Given:
    """Place one elastic service a turn, each tenant's in policy order, at most `placements_max`."""
    offers = {
        tenant: _one_by_one(tenant_executions, placer, holdings, now_s, growth)
        for tenant, tenant_executions in by_tenant(executions).items()
    }
    result: dict[ExecutionId, list[Placement]] = defaultdict(list)
    for execution_id, placement in islice(in_turns(offers, turns), max(placements_max, 0)):
        result[execution_id].append(placement)
    return {execution_id: tuple(placements) for execution_id, placements in result.items()}


def _of_one(
    execution: Execution,
    placer: ServicePlacer,
    holdings: TenantReservations,
    now_s: float,
    placements_max: int,
    growth: ElasticGrowth | None,
) -> Iterable[Placement]:
    for component, services in wants_elastic(execution, now_s):
        placements = _place(execution, component, services[: max(placements_max, 0)], placer, holdings, growth)
        placements_max -= len(placements)
        yield from placements


def _one_by_one(
    executions: Iterable[Execution],
    placer: ServicePlacer,
    holdings: TenantReservations,
    now_s: float,
    growth: ElasticGrowth | None,
) -> Iterator[tuple[tuple[ExecutionId, Placement], Resources]]:
    """Yield the elastic services of one tenant.

    A service that finds no place now finds none later in the pass, nor does an equal one.
    """
    for execution in executions:
        for component, services in wants_elastic(execution, now_s):
            for service in services:
                placements = _place(execution, component, [service], placer, holdings, growth)
                if not placements:
                    break
                yield (execution.id, placements[0]), component.reservation


def _place(
    execution: Execution,
    component: Component,
    services: list[Service],
    placer: ServicePlacer,
    holdings: TenantReservations,
    growth: ElasticGrowth | None,
) -> list[Placement]:
    """Place as many as fit within all limits and in allowed places."""
    allowed = holdings.room_for(execution, component.reservation)
    count = len(services) if allowed is None else min(len(services), allowed)
    begins_s, ends_s = placer.span(execution)
    request = Request(component, count, execution.tenant, execution.application.storage, begins_s, ends_s)
    nodes = placer.place(request) if growth is None else growth.place(execution, services, request, placer)
    names = (placer.ledger.nodes[node].name for node in nodes)
    placements = [Placement(service_id=service.id, node=name) for service, name in zip(services, names, strict=False)]
    holdings.take(execution, component.reservation * len(placements))
    return placements
