"""Room that is not free yet: what leaves by itself, and what elastic services can be made to give back.

A core never waits for somebody's elastic service. It is given a place as if elastic services were absent; those in
its way are stopped, the last in policy order first and the fewest of them; the place is kept for it until they are
gone. Cores are never taken back, so no two applications can take from each other for ever.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from zoe_lib.domain.events import Placement
from zoe_lib.domain.execution import Execution, ExecutionId, ExecutionState, Service, ServiceId, ServiceState
from zoe_lib.domain.gateway import held
from zoe_lib.domain.resources import Resources
from zoe_master.scheduler.admission import admit
from zoe_master.scheduler.ledger import Ledger
from zoe_master.scheduler.placement import Placer


@dataclass(frozen=True, slots=True)
class Holding:
    """A running service and what it holds where; `rank` is its execution's place in the policy's order."""

    rank: int
    execution: Execution
    service: Service
    node: int
    amount: Resources


class Reclaim:
    """The services of one pass whose room may be had, and those chosen to go. `active` is in policy order."""

    def __init__(self, placer: Placer, active: Iterable[Execution], preemption: str = "elastic") -> None:
        self._placer = placer
        self._takes_back = preemption == "elastic"
        self._leaving: list[Holding] = []
        self._elastic: list[Holding] = []
        self.reserved: dict[ExecutionId, tuple[Placement, ...]] = {}
        self._chosen: dict[ServiceId, Holding] = {}
        for rank, execution in enumerate(active):
            self._sort(rank, execution, placer.ledger)

    def make_room(self, execution: Execution) -> bool:
        """Keep a place for the core where something leaves, or else where elastic services then must go.

        The place is taken off the ledger, so that nobody later in the pass gets it. False when neither helps.
        """
        for lent in (self._leaving, [*self._leaving, *self._elastic]):
            placements = self._admit_with(execution, lent)
            if placements is not None:
                self._choose({self._placer.ledger.index[p.node] for p in placements})
                self.reserved[execution.id] = placements
                return True
        return False

    def preempted(self) -> dict[ExecutionId, tuple[ServiceId, ...]]:
        """The elastic services that must go, by execution."""
        by_execution: dict[ExecutionId, list[ServiceId]] = defaultdict(list)
        for holding in self._chosen.values():
            by_execution[holding.execution.id].append(holding.service.id)
        return {execution_id: tuple(services) for execution_id, services in by_execution.items()}

    def _sort(self, rank: int, execution: Execution, ledger: Ledger) -> None:
        if execution.state is not ExecutionState.STOPPING and all(map(_stays, execution.services)):
            return
        for service, amount in held(execution, ledger.gateway):
            if service.node not in ledger.index:
                continue
            holding = Holding(rank, execution, service, ledger.index[service.node], amount)
            if service.state is ServiceState.STOPPING or execution.state is ExecutionState.STOPPING:
                self._leaving.append(holding)
            elif self._takes_back and not service.core:
                self._elastic.append(holding)

    def _admit_with(self, execution: Execution, lent: Sequence[Holding]) -> tuple[Placement, ...] | None:
        if not lent:
            return None
        ledger = self._placer.ledger
        for holding in lent:
            ledger.give_back(holding.node, holding.amount)
        answer = admit(execution, self._placer)
        for holding in lent:
            ledger.take(holding.node, holding.amount)
        return answer if isinstance(answer, tuple) else None

    def _choose(self, nodes: set[int]) -> None:
        """Let go, on each of these nodes, as few elastic services as cover what is overdrawn there."""
        for node in sorted(nodes):
            candidates = sorted((h for h in self._elastic if h.node == node), key=_most_dispensable_first)
            chosen: list[Holding] = []
            for holding in candidates:
                if self._covered(node, chosen):
                    break
                chosen.append(holding)
            for holding in reversed(list(chosen)):
                without = [h for h in chosen if h is not holding]
                if self._covered(node, without):
                    chosen = without
            for holding in chosen:
                self._chosen[holding.service.id] = holding
                self._elastic.remove(holding)
                self._leaving.append(holding)

    def _covered(self, node: int, going: Sequence[Holding]) -> bool:
        """Whether the node is level once what leaves and what is going has gone."""
        left = self._placer.ledger.free(node)
        for holding in (*(h for h in self._leaving if h.node == node), *going):
            left = left + holding.amount
        return Resources().fits_in(left) and all(pieces >= 0 for pieces in left.devices.values())


def _stays(service: Service) -> bool:
    return service.core and service.state is not ServiceState.STOPPING


def _most_dispensable_first(holding: Holding) -> tuple[int, int, str]:
    return -holding.rank, -holding.service.index, holding.service.id
