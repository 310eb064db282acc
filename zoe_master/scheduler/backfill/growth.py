"""Places for elastic services that no core can take back: they must leave the room reserved for waiting executions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from zoe_lib.domain.executions.events import Placement
from zoe_lib.domain.executions.execution import Execution, Service
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.ordering.limit_lines import LimitLines
from zoe_master.scheduler.placement.placement import ServicePlacer, Span
from zoe_master.scheduler.placement.request import Request


class PromisedCapacity(Protocol):
    """Room on nodes at later times that is reserved for waiting executions."""

    def lets_grow(self, execution: Execution, placements: Sequence[Placement], ends_s: float) -> bool:
        """Return whether these places leave that room free until then; if so, take them."""
        ...

    def room_beside(self, room: ServicePlacer, ends_s: float) -> ServicePlacer | None:
        """Return the resources of the room that do not use reserved room until then; None if that is not computed."""
        ...


class ElasticGrowth:
    """Growth in one pass. `promised` None: only the lines of limits reserve room."""

    def __init__(self, promised: PromisedCapacity | None, lines: LimitLines, span: Callable[[Execution], Span]) -> None:
        self._promised = promised
        self._lines = lines
        self._span = span

    def place(
        self, execution: Execution, services: Sequence[Service], request: Request, placer: ServicePlacer
    ) -> list[int]:
        """Take room for these services of one kind, best node first; return the node index of each one that got room.

        If weighers choose reserved nodes, the other nodes are tried alone, as for cores that pass.
        """
        chosen = placer.place(request)
        nodes = self._allowed_nodes(execution, services, chosen, request, placer)
        if len(nodes) == len(chosen) or self._promised is None:
            return nodes
        rest = replace(request, count=len(chosen) - len(nodes))
        amount, ends_s = rest.component.reservation, self._span(execution)[1]
        other = self._promised.room_beside(placer, ends_s) if self._lines.may_grow(execution, amount, ends_s) else None
        if other is None:
            return nodes
        moved = other.place(rest)
        other.undo(rest, moved)
        for node in moved:
            placer.ledger.take(node, amount)
        return nodes + self._allowed_nodes(execution, services[len(nodes) :], moved, rest, placer)

    def _allowed_nodes(
        self,
        execution: Execution,
        services: Sequence[Service],
        nodes: Sequence[int],
        request: Request,
        placer: ServicePlacer,
    ) -> list[int]:
        """Return the nodes that the next of the services may use; release the room of the others."""
        allowed: list[int] = []
        for node in nodes:
            place = Placement(service_id=services[len(allowed)].id, node=placer.ledger.nodes[node].name)
            if self._may_place(execution, place, request.component.reservation):
                allowed.append(node)
            else:
                placer.undo(request, [node])
        return allowed

    def _may_place(self, execution: Execution, place: Placement, amount: Resources) -> bool:
        ends_s = self._span(execution)[1]
        if not self._lines.may_grow(execution, amount, ends_s):
            return False
        if self._promised is not None and not self._promised.lets_grow(execution, [place], ends_s):
            return False
        self._lines.grow(execution, amount, ends_s)
        return True
