"""Best effort: place elastic services in the rest of the cluster, within the limits of tenants and users."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice

from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.executions.events import Placement
from zoe_lib.domain.executions.execution import Execution, ExecutionId, Service
from zoe_lib.domain.lifecycle.consequences import wants_elastic
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.backfill.growth import ElasticGrowth
from zoe_master.scheduler.ordering.limits import TenantReservations
from zoe_master.scheduler.ordering.tenancy import TenantTurns, by_tenant, in_turns
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.placement.request import Request

Given = dict[ExecutionId, tuple[Placement, ...]]


class ElasticGiving:
    """Places elastic services in one pass.

    Without `growth`, every place is allowed. gives_way: they are taken back when their room is needed.
    """

    def __init__(
        self,
        placer: ServicePlacer,
        holdings: TenantReservations,
        now_s: float,
        growth: ElasticGrowth | None = None,
        *,
        gives_way: bool = True,
    ) -> None:
        self._placer = placer
        self._holdings = holdings
        self._now_s = now_s
        self._growth = growth
        self._gives_way = gives_way

    def in_order(self, executions: Iterable[Execution], placements_max: int, turns: TenantTurns | None = None) -> Given:
        """Place as many as fit, `placements_max` at most: execution by execution in policy order, or one a turn, each
        tenant's in policy order. All executions get their preferred services before any gets more.
        """
        growing = [execution for execution in executions if execution.application.malleable]
        given = self._give(growing, placements_max, turns, preferred=True)
        extra = [execution for execution in growing if execution.application.has_extra_instances]
        if not extra:
            return given
        placements_max -= sum(map(len, given.values()))
        for execution_id, placements in self._give(extra, placements_max, turns, preferred=False).items():
            given[execution_id] = given.get(execution_id, ()) + placements
        return given

    def _give(
        self, executions: Iterable[Execution], placements_max: int, turns: TenantTurns | None, *, preferred: bool
    ) -> Given:
        if turns is None:
            return self._place_in_order(executions, placements_max, preferred)
        turns.start_round()
        return self._turns(executions, placements_max, turns, preferred)

    def _wanted(self, execution: Execution, preferred: bool) -> Iterator[tuple[Component, list[Service]]]:
        """Yield the services that it may get now, within the preferred counts or beyond them, by component. All are
        within for an execution whose promise is at risk.
        """
        at_risk = execution.promise is not None and execution.promise.notice is not None
        for component, services in wants_elastic(execution, self._now_s):
            chosen = [s for s in services if (at_risk or component.is_preferred(s.index)) is preferred]
            if chosen:
                yield component, chosen

    def _place_in_order(self, executions: Iterable[Execution], placements_max: int, preferred: bool) -> Given:
        result: Given = {}
        for execution in executions:
            placements = tuple(self._of_one(execution, placements_max, preferred))
            if placements:
                result[execution.id] = placements
                placements_max -= len(placements)
            if placements_max <= 0:
                break
        return result

    def _turns(
        self, executions: Iterable[Execution], placements_max: int, turns: TenantTurns, preferred: bool
    ) -> Given:
        offers = {tenant: self._one_by_one(several, preferred) for tenant, several in by_tenant(executions).items()}
        result: dict[ExecutionId, list[Placement]] = defaultdict(list)
        for execution_id, placement in islice(in_turns(offers, turns), max(placements_max, 0)):
            result[execution_id].append(placement)
        return {execution_id: tuple(placements) for execution_id, placements in result.items()}

    def _of_one(self, execution: Execution, placements_max: int, preferred: bool) -> Iterable[Placement]:
        for component, services in self._wanted(execution, preferred):
            placements = self._place(execution, component, services[: max(placements_max, 0)])
            placements_max -= len(placements)
            yield from placements

    def _one_by_one(
        self, executions: Iterable[Execution], preferred: bool
    ) -> Iterator[tuple[tuple[ExecutionId, Placement], Resources]]:
        """Yield the elastic services of one tenant.

        A service without a place now finds none later in the pass, nor does an equal one.
        """
        for execution in executions:
            for component, services in self._wanted(execution, preferred):
                for service in services:
                    placements = self._place(execution, component, [service])
                    if not placements:
                        break
                    yield (execution.id, placements[0]), component.reservation

    def _place(self, execution: Execution, component: Component, services: list[Service]) -> list[Placement]:
        """Place as many as fit within all limits and in allowed places."""
        placer, storage = self._placer, execution.application.storage
        allowed = self._holdings.room_for(execution, component.reservation)
        count = len(services) if allowed is None else min(len(services), allowed)
        begins_s, ends_s = placer.span(execution)
        request = Request(
            component,
            count,
            execution.tenant,
            storage,
            begins_s,
            ends_s,
            self._gives_way,
            leaves_s=placer.leaves_s(execution),
        )
        growth = self._growth
        nodes = placer.place(request) if growth is None else growth.place(execution, services, request, placer)
        names = (placer.ledger.nodes[node].name for node in nodes)
        placements = [Placement(service_id=entry.id, node=name) for entry, name in zip(services, names, strict=False)]
        self._holdings.take(execution, component.reservation * len(placements))
        return placements
