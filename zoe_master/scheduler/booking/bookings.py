"""Bookings: room on nodes for promised executions from a time on.

Before that time others may use it if they are expected to have left by then. Elastic services may use it at any time,
since they are taken back. It is booked node by node, so a booked service finds one node with room for it, not a sum
over many.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from zoe_lib.domain.executions.execution import ExecutionId
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.resources import NOTHING, Resources, total
from zoe_master.scheduler.booking.spans import Span

# Factor for run times without a promise: half of all learned ones are exceeded.
CAUTION = 1.5
_ROUNDED = 1.25


@value(frozen=True, slots=True)
class Booking:
    """Room for an execution: it begins at `begins_s` at the latest, and has ended by `ends_s`; seconds since the epoch.
    A booking for an offer has a special name (`offer_name`).

    places: node and amount, for each essential or guaranteed service. read_bytes_per_s: bandwidth to read that is
    booked for it in this time. whole: the other members with which an offer is accepted, all with the same number, or
    not at all. tenant, user: of the execution.
    """

    execution_id: ExecutionId
    begins_s: float
    ends_s: float
    places: tuple[tuple[str, Resources], ...] = ()
    read_bytes_per_s: int = 0
    whole: str = ""
    tenant: str = ""
    user: str = ""

    @property
    def cores_milli(self) -> int:
        """Return the cores of all places, in thousandths."""
        return sum(amount.cores_milli for _, amount in self.places)

    def bandwidth_span(self, now_s: float) -> Span:
        """Return begin and end of its bandwidth; an execution that should have begun already is waiting for it, and
        holds it from now on for the same time.
        """
        begins_s = max(self.begins_s, now_s)
        return begins_s, begins_s + self.ends_s - self.begins_s, self.read_bytes_per_s


# When a service is expected to leave a node, and the resources it frees there.
Leaving = tuple[float, int, Resources]
_Free = Callable[[int], Resources]


@value(frozen=True, slots=True)
class _BookedAmount:
    """Room of one booking on one node."""

    execution_id: ExecutionId
    begins_s: float
    ends_s: float
    amount: Resources
    group: str
    number: str


# The maximum that must be free on a node, by time.
_Steps = tuple[list[float], list[Resources]]


class BookingRoom:
    """Room on nodes that bookings leave, for one state of the accounts.

    `leaving`: ends beyond those that these accounts count as free. `returned`: resources that elastic services return
    on demand, by node. A node is examined in detail once, and for executions with bookings there; otherwise a table for
    each end of services is enough, of which there are few (`pessimistic_end`).
    """

    def __init__(
        self,
        bookings: Iterable[Booking],
        index: Mapping[str, int],
        leaving: Iterable[Leaving],
        returned: Mapping[int, Resources] | None = None,
    ) -> None:
        self._kept: dict[int, list[_BookedAmount]] = defaultdict(list)
        self._nodes_of: dict[ExecutionId, set[int]] = defaultdict(set)
        for booking in bookings:
            for name, amount in booking.places:
                if name in index:
                    kept = _BookedAmount(
                        booking.execution_id, booking.begins_s, booking.ends_s, amount, *offer_of(booking)
                    )
                    self._kept[index[name]].append(kept)
                    self._nodes_of[booking.execution_id].add(index[name])
        self._leaving: dict[int, list[tuple[float, Resources]]] = defaultdict(list)
        for at_s, node, amount in leaving:
            if node in self._kept:
                self._leaving[node].append((at_s, amount))
        # Shared with twins: dropped bookings with their nodes, and ignored ones.
        self._dropped: set[ExecutionId] = set()
        self._dropped_nodes: set[int] = set()
        self._apart: list[ExecutionId | None] = [None]
        self._ignored = [False]
        self._set_returned(returned or {})

    def with_returned(self, returned: Mapping[int, Resources]) -> BookingRoom:
        """Return the same bookings for accounts with these returned resources, by node."""
        twin = BookingRoom.__new__(BookingRoom)
        twin.__dict__ |= self.__dict__
        twin._set_returned(returned)
        return twin

    def _set_returned(self, returned: Mapping[int, Resources]) -> None:
        self._returned = returned
        self._steps: dict[tuple[int, float], _Steps] = {}
        self._tables: dict[tuple[float, float], dict[int, Resources]] = {}

    def set_apart(self, execution_id: ExecutionId | None) -> None:
        """Ignore the booking of this execution while it looks for its own room; None: ignore none."""
        self._apart[0] = execution_id if execution_id in self._nodes_of else None

    @contextmanager
    def ignore_all(self) -> Iterator[None]:
        """Ignore all bookings meanwhile."""
        self._ignored[0] = True
        try:
            yield
        finally:
            self._ignored[0] = False

    def drop(self, execution_id: ExecutionId) -> None:
        """Drop the booking of an execution that has got its room."""
        if execution_id in self._nodes_of:
            self._dropped.add(execution_id)
            self._dropped_nodes |= self._nodes_of[execution_id]

    def key(self, begins_s: float, until_s: float) -> tuple[object, ...]:
        """Return a key that is equal for services with about the same room left."""
        return self._ignored[0], self._apart[0], begins_s, until_s

    def nodes_with_room(
        self, nodes: Sequence[int], amount: Resources, begins_s: float, until_s: float, free: _Free
    ) -> list[int]:
        """Return those of these nodes with this much left beside the bookings, for this time."""
        if self._ignored[0]:
            return list(nodes)
        table, special = self._table(begins_s, until_s), self._special()
        return [
            node
            for node in nodes
            if (node not in table and node not in special)
            or (amount + self.shortfall(node, begins_s, until_s)).fits_in(free(node))
        ]

    def shortfall(self, node: int, begins_s: float, until_s: float) -> Resources:
        """Return how much of a node's free resources must stay free between two times."""
        if node not in self._kept or self._ignored[0]:
            return NOTHING
        if node in self._special():
            gone = {self._apart[0], *self._dropped}
            return _amount_before(self._steps_of(node, begins_s, gone), until_s)
        return self._table(begins_s, until_s).get(node, NOTHING)

    def _special(self) -> set[int]:
        """Return the nodes for which the tables are too strict."""
        apart = self._apart[0]
        return self._dropped_nodes if apart is None else self._dropped_nodes | self._nodes_of[apart]

    def _table(self, begins_s: float, until_s: float) -> dict[int, Resources]:
        """Return the amounts that must stay free, by node."""
        known = self._tables.get((begins_s, until_s))
        if known is None:
            known = {}
            for node in self._kept:
                steps = self._steps.get((node, begins_s))
                if steps is None:
                    steps = self._steps[node, begins_s] = self._steps_of(node, begins_s, ())
                amount = _amount_before(steps, until_s)
                if amount is not NOTHING:
                    known[node] = amount
            self._tables[begins_s, until_s] = known
        return known

    def _steps_of(self, node: int, begins_s: float, without: Collection[ExecutionId | None]) -> _Steps:
        """Return the times from which on more must be free than before, and the amounts."""
        kept = [kept for kept in self._kept[node] if kept.ends_s > begins_s and kept.execution_id not in without]
        times, most = [], NOTHING
        amounts: list[Resources] = []
        for at_s in sorted({max(entry.begins_s, begins_s) for entry in kept}):
            lacks = _maximum_of_offers([entry for entry in kept if entry.begins_s <= at_s < entry.ends_s])
            lacks -= self._returned.get(node, NOTHING)
            for ends_s, amount in self._leaving.get(node, ()):
                if ends_s <= at_s:
                    lacks -= amount
            more = _greater(most, lacks)
            if more != most:
                most = more
                times.append(at_s)
                amounts.append(most)
        return times, amounts


def _maximum_of_offers(kept: Iterable[_BookedAmount]) -> Resources:
    """Return the amount of these bookings: several offers for one execution or group count with their maximum, since
    only one can be accepted.
    """
    of_offers: dict[tuple[str, str], Resources] = {}
    for entry in kept:
        offer = entry.group, entry.number
        of_offers[offer] = of_offers.get(offer, NOTHING) + entry.amount
    of_groups: dict[str, Resources] = {}
    for (group, _), amount in of_offers.items():
        of_groups[group] = _greater(of_groups[group], amount) if group in of_groups else amount
    return total(of_groups.values())


def offer_of(booking: Booking) -> tuple[str, str]:
    """Return the unit of acceptance, an execution or a group, and the number of the offer; empty for other bookings."""
    name, _, number = booking.execution_id.partition("#")
    return booking.whole or name, number


def offer_name(execution_id: ExecutionId, number: int) -> str:
    """Return the name of a booking for an offer with this number."""
    return f"{execution_id}#{number}"


def booked_for(name: str) -> ExecutionId:
    """Return the execution of a booking."""
    return name.partition("#")[0]


def _amount_before(steps: _Steps, until_s: float) -> Resources:
    """Return the amount that must be free before this time."""
    times, amounts = steps
    number = bisect_left(times, until_s)
    return amounts[number - 1] if number else NOTHING


def pessimistic_end(begins_s: float, ends_s: float) -> float:
    """Return a pessimistic end of a stay expected to end at `ends_s`.

    There are few distinct ones: the duration is rounded up to a power of 1.25.
    """
    stays_s = CAUTION * (ends_s - begins_s)
    if not 0 < stays_s < math.inf:
        return begins_s + max(stays_s, 0.0)
    return begins_s + _ROUNDED ** math.ceil(math.log(stays_s, _ROUNDED) - 1e-9)


def _greater(one: Resources, other: Resources) -> Resources:
    devices = {
        kind: max(one.devices.get(kind, 0), other.devices.get(kind, 0)) for kind in {*one.devices, *other.devices}
    }
    return Resources(max(one.cores_milli, other.cores_milli), max(one.memory_bytes, other.memory_bytes), devices)
