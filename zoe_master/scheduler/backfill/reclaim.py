"""Room that is not free yet: services are leaving it, or elastic services can be stopped for it.

A core never waits for an elastic service. It gets a place as if elastic services were absent; those in its way are
stopped, as few as possible: those beyond a preferred count first, then the last in policy order. The place is kept for
it until they are gone. An execution that passes by backfill does the same, unless that delays one that the policy
protects. Elastic services that fill the limit of its tenant or user give way in the same manner.

Cores are never taken back, so no two applications can take from each other for ever: freed room goes to a core, which
holds it until its end. An execution that may no longer pass when the room is free leaves it to elastic services; only
an arrival, an end or a wrong estimate lets it pass again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import add, sub

from zoe_lib.domain.executions.events import Placement
from zoe_lib.domain.executions.execution import Execution, ExecutionId, ExecutionState, Service, ServiceId, ServiceState
from zoe_lib.domain.executions.gateway import held_resources
from zoe_lib.domain.executions.limits import LimitSubject
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.resources import Resources, total
from zoe_master.scheduler.booking.bookings import BookingRoom
from zoe_master.scheduler.placement.admission import places_in
from zoe_master.scheduler.placement.free_resources import Holding, Ledger
from zoe_master.scheduler.placement.placement import ServicePlacer

# Possible places of an execution in a room, which stays unchanged.
Find = Callable[[Execution, ServicePlacer], tuple[Placement, ...] | None]
# The holders whose limits count an execution's services.
Holders = Callable[[Execution], Sequence[LimitSubject]]


@value(frozen=True, slots=True)
class Elastic:
    """An elastic service that may be stopped; `rank`: its turn, or its execution's position in the order."""

    rank: int
    execution: Execution
    service: Service
    amount: Resources

    @property
    def counted_amount(self) -> Resources:
        """Return its amounts for a limit, without the gateway's share."""
        return self.execution.component_of(self.service).reservation


class ElasticReclaim:
    """The services of one pass whose room can be made free, and those chosen to stop.

    `active` is in policy order; where tenants take turns, the `turns` of elastic services take precedence. `holders`
    returns the holders whose limits count an execution; without it, no limits count.
    """

    def __init__(
        self,
        placer: ServicePlacer,
        active: Iterable[Execution],
        preemption: str = "elastic",
        turns: Mapping[ServiceId, int] | None = None,
        holders: Holders | None = None,
    ) -> None:
        self._placer = placer
        self._turns = turns or {}
        self._holders = holders or _no_holders
        self._takes_back = preemption == "elastic"
        self._leaving: list[Holding] = []
        self._elastic: dict[int, list[Elastic]] = defaultdict(list)
        self._staying: dict[ExecutionId, list[Holding]] = {}
        self._rooms: tuple[ServicePlacer, ...] = ()
        self.reserved: dict[ExecutionId, tuple[Placement, ...]] = {}
        self._chosen: list[Elastic] = []
        # For each holder's limit: amounts that are leaving or can be stopped, and amounts that are leaving.
        self._in_booked: Sequence[Mapping[int, Resources]] = ()
        self._may_leave: dict[LimitSubject, Resources] = defaultdict(Resources)
        self._leaves: dict[LimitSubject, Resources] = defaultdict(Resources)
        for rank, execution in enumerate(active):
            self._sort(rank, execution)
        for services in self._elastic.values():
            services.sort(key=_most_dispensable_first)
        if placer.ledger.booked is not None:
            self._set_returned_room(placer.ledger, placer.ledger.booked)

    def rooms(self) -> tuple[ServicePlacer, ...]:
        """Return the free room now; the room after all leaving services have gone; and the room without elastic
        services.

        Only the first, if no services are leaving or can be stopped. They are made at the first call and updated from
        then on.
        """
        if not self._rooms:
            self._rooms = self._make_rooms()
        return self._rooms

    def staying(self, execution: Execution) -> Sequence[Holding]:
        """Return its resources until its end: all except services that are leaving or will be stopped."""
        known = self._staying.get(execution.id)
        return self._placer.ledger.holdings(execution) if known is None else known

    def can_free(self, holder: LimitSubject, excess: Resources) -> bool:
        """Return whether this much of a holder's services is leaving or can be stopped."""
        return excess.fits_in(self._may_leave[holder])

    def givers(self, excess: Mapping[LimitSubject, Resources]) -> Sequence[Elastic]:
        """Return the fewest elastic services that, with the leaving ones, free this much of each holder's limit."""
        if not excess:
            return ()

        def amounts_of(one: Elastic) -> Sequence[Resources]:
            holders = self._holders(one.execution)
            return [one.counted_amount if holder in holders else Resources() for holder in excess]

        everybodys = (service for services in self._elastic.values() for service in services)
        own = (
            everybody for everybody in everybodys if not excess.keys().isdisjoint(self._holders(everybody.execution))
        )
        free = [self._leaves[holder] - amount for holder, amount in excess.items()]
        return _fewest(sorted(own, key=_most_dispensable_first), free, amounts_of)

    def make_room(self, execution: Execution, find: Find | None = None, giving: Sequence[Elastic] = ()) -> bool:
        """Reserve a place for the core where services are leaving, or else where elastic services can be stopped.

        The place is subtracted from the ledger, so that no later execution of the pass gets it. `giving` are stopped in
        any case, for a limit. `find` returns the places for an execution that may not use all. Return False if there is
        no place.
        """
        # At most two rooms are tried: after the leaving services, and without elastic services. Any room in between
        # would change with each stopped service, and with it the places and whether they are allowed.
        for room in self.rooms()[2:] if giving and find is not None else self._rooms_without(giving):
            placements = places_in(room, execution) if find is None else find(execution, room)
            if placements is not None:
                self.keep(execution, placements, giving)
                return True
        return False

    def keep(self, execution: Execution, placements: tuple[Placement, ...], giving: Sequence[Elastic] = ()) -> None:
        """Reserve these places for a core; stop `giving` and the elastic services in its way."""
        for elastic in giving:
            self._let_go(elastic)
        ledger = self._placer.ledger
        self.hold(ledger.holdings_at(execution, placements))
        self.reserved[execution.id] = placements

    def hold(self, wanted: Sequence[Holding]) -> None:
        """Subtract this from all rooms, and stop the elastic services in its way."""
        for node, amount in wanted:
            self._placer.ledger.take(node, amount)
        self.follow(wanted)
        for node in sorted({node for node, _ in wanted}):
            self._choose(node)

    def take_if_free(self, execution: Execution) -> tuple[Placement, ...] | None:
        """Return the places reserved for an execution, and end the reservation, if all of them are free now; else
        None.
        """
        ledger = self._placer.ledger
        nodes = {node for node, _ in ledger.holdings_at(execution, self.reserved[execution.id])}
        if not all(_level(ledger.free(node)) for node in nodes):
            return None
        return self.reserved.pop(execution.id)

    def follow(self, taken: Iterable[Holding]) -> None:
        """Subtract amounts taken from the ledger from the other rooms, too."""
        for node, amount in taken if len(self._rooms) > 1 else ():
            for room in self._rooms[1:]:
                room.ledger.take(node, amount)

    def preempted_services(self) -> dict[ExecutionId, tuple[ServiceId, ...]]:
        """Return the elastic services to stop, by execution."""
        by_execution: dict[ExecutionId, list[ServiceId]] = defaultdict(list)
        for going in self._chosen:
            by_execution[going.execution.id].append(going.service.id)
        return {execution_id: tuple(services) for execution_id, services in by_execution.items()}

    def _sort(self, rank: int, execution: Execution) -> None:
        if execution.state is not ExecutionState.STOPPING and all(map(_stays, execution.services)):
            return
        ledger = self._placer.ledger
        staying = self._staying[execution.id] = []
        for service, amount in held_resources(execution, ledger.gateway):
            if service.node not in ledger.index:
                continue
            node = ledger.index[service.node]
            elastic = Elastic(self._turns.get(service.id, rank), execution, service, amount)
            if service.state is ServiceState.STOPPING or execution.state is ExecutionState.STOPPING:
                self._leaving.append((node, amount))
                self._count(elastic, self._leaves)
            elif self._takes_back and not service.core:
                self._elastic[node].append(elastic)
            else:
                staying.append((node, amount))
                continue
            self._count(elastic, self._may_leave)

    def _make_rooms(self) -> tuple[ServicePlacer, ...]:
        if not self._leaving and not self._elastic:
            return (self._placer,)
        soon = self._placer.ledger.copy()
        for node, amount in self._leaving:
            soon.give_back(node, amount)
        absent = soon.copy()
        for node, services in self._elastic.items():
            for service in services:
                absent.give_back(node, service.amount)
        booked = self._placer.ledger.booked
        if booked is not None:
            soon.booked, absent.booked = (booked.with_returned(amounts) for amounts in self._in_booked[1:])
        return (self._placer, self._placer.with_ledger(soon), self._placer.with_ledger(absent))

    def _set_returned_room(self, ledger: Ledger, booked: BookingRoom) -> None:
        """Leaving and stoppable services are no obstacle to bookings; each room counts some of them as free."""
        self._in_booked = [self._amounts(self._leaving, elastic=True), self._amounts((), elastic=True), {}]
        ledger.booked = booked.with_returned(self._in_booked[0])

    def _amounts(self, leaving: Iterable[Holding], *, elastic: bool) -> dict[int, Resources]:
        amounts: dict[int, Resources] = defaultdict(Resources)
        for node, amount in leaving:
            amounts[node] += amount
        for node, services in self._elastic.items() if elastic else ():
            amounts[node] += total(service.amount for service in services)
        return amounts

    def _rooms_without(self, giving: Sequence[Elastic]) -> Sequence[ServicePlacer]:
        """Return the rooms without these services, the smallest first."""
        _, *others = self.rooms()
        if not giving:
            return others
        soon = others[0].ledger.copy()
        for elastic in giving:
            soon.give_back(self._node_of(elastic), elastic.amount)
        return (self._placer.with_ledger(soon), others[1])

    def _choose(self, node: int) -> None:
        """Stop as few elastic services as possible to cover the overdrawn amounts after the leaving services have
        gone.
        """
        soon = self.rooms()[1].ledger
        for elastic in _fewest(self._elastic.get(node, ()), [soon.free(node)], lambda elastic: [elastic.amount]):
            self._let_go(elastic)

    def _let_go(self, one: Elastic) -> None:
        node = self._node_of(one)
        soon = self.rooms()[1]  # made while it is still a candidate
        self._elastic[node].remove(one)
        soon.ledger.give_back(node, one.amount)
        self._count(one, self._leaves)
        self._chosen.append(one)

    def _count(self, one: Elastic, amounts: dict[LimitSubject, Resources]) -> None:
        for holder in self._holders(one.execution):
            amounts[holder] += one.counted_amount

    def _node_of(self, one: Elastic) -> int:
        assert one.service.node is not None  # otherwise it could not give anything
        return self._placer.ledger.index[one.service.node]


def _fewest(
    candidates: Iterable[Elastic], free: Sequence[Resources], amounts: Callable[[Elastic], Sequence[Resources]]
) -> Sequence[Elastic]:
    """Return the first candidates that end the overdraft of `free`, without those that do not reduce it.

    `amounts`: contribution of a candidate to each of `free`.
    """
    chosen: list[Elastic] = []
    for candidate in candidates:
        if all(map(_level, free)):
            break
        chosen.append(candidate)
        free = list(map(add, free, amounts(candidate)))
    for candidate in reversed(list(chosen)):
        without = list(map(sub, free, amounts(candidate)))
        if all(map(_level, without)):
            chosen.remove(candidate)
            free = without
    return chosen


def _level(free: Resources) -> bool:
    return free.cores_milli >= 0 and free.memory_bytes >= 0 and all(pieces >= 0 for pieces in free.devices.values())


def _no_holders(_execution: Execution) -> Sequence[LimitSubject]:
    return ()


def _stays(service: Service) -> bool:
    return service.core and service.state is not ServiceState.STOPPING


def _most_dispensable_first(one: Elastic) -> tuple[bool, int, int, str]:
    preferred = one.execution.component_of(one.service).is_preferred(one.service.index)
    return preferred, -one.rank, -one.service.index, one.service.id
