"""Promised executions, pending requests for promises, and room booked until the start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions.execution import ACTIVE_STATES, Execution, ExecutionId, ExecutionState
from zoe_lib.domain.executions.guaranteed import as_guaranteed, awaits_promise
from zoe_lib.domain.values.finish_times import Promise
from zoe_lib.domain.values.frozen import changed
from zoe_master.scheduler.booking.bookings import Booking, booked_for, offer_name


class PromiseBookings:
    """The leader's state of promises; the cost of a tick depends on changes.

    Bookings are kept in memory only: a new leader makes them again, and executions without one come first in the queue.
    """

    def __init__(self, executions: Iterable[Execution] = ()) -> None:
        self._asking: dict[ExecutionId, Execution] = {}
        self._offered: dict[ExecutionId, Execution] = {}
        self._waiting: dict[ExecutionId, Execution] = {}
        self._held: dict[ExecutionId, Execution] = {}
        self._active: dict[ExecutionId, Execution] = {}
        self._started: dict[ExecutionId, Execution] = {}
        self._places: dict[str, Booking] = {}
        self._frozen: tuple[Booking, ...] | None = ()
        for execution in executions:
            self.keep(execution)

    def keep(self, execution: Execution) -> None:
        """Record the present state of an active execution."""
        promised, asks = execution.promise is not None, awaits_promise(execution)
        if not promised and not asks:
            return
        submitted = execution.state is ExecutionState.SUBMITTED
        _put(self._asking, execution, asks and submitted and execution.offers is None)
        _put(self._offered, execution, asks and submitted and execution.offers is not None)
        _put(self._waiting, execution, promised and execution.state is ExecutionState.QUEUED)
        _put(self._held, execution, promised and submitted)
        _put(self._active, execution, promised and execution.state in ACTIVE_STATES)
        _put(self._started, as_guaranteed(execution), promised and execution.state in ACTIVE_STATES)
        if execution.promise is not None and execution.promise.offer and execution.id not in self._places:
            self._keep_offer(execution.id, execution.promise)
        self._frozen = None

    def drop(self, execution_id: ExecutionId) -> None:
        """Forget an execution that has ended."""
        for some in (self._asking, self._offered, self._waiting, self._held, self._active, self._started):
            if some.pop(execution_id, None) is not None:
                self._frozen = None

    def book(self, bookings: Iterable[Booking]) -> None:
        """Add a booking, replacing an earlier one of the execution."""
        self._places |= {booking.execution_id: booking for booking in bookings}
        self._frozen = None

    def look(self, nodes: Sequence[Node]) -> None:
        """Drop bookings on lost nodes, and unneeded ones."""
        if not self._places:
            return
        by_name = {node.name: node for node in nodes}
        needed = self._waiting | self._offered | self._held
        lost = [
            name
            for name, booking in self._places.items()
            if booked_for(name) not in needed
            or (booked_for(name) != name and booked_for(name) not in self._offered)
            or not _on_open_nodes(booking, by_name, needed[booked_for(name)].tenant)
        ]
        for name in lost:
            del self._places[name]
            self._frozen = None

    def next_begin_s(self, now_s: float) -> float | None:
        """Return when the next booked execution in the queue must begin, in seconds since the epoch; None without
        one.
        """
        begins = (booking.begins_s for name, booking in self._places.items() if name in self._waiting)
        return min((at_s for at_s in begins if at_s > now_s), default=None)

    def bookings(self) -> tuple[Booking, ...]:
        """Return all bookings. A promised execution that waits and has no room yet has one without places."""
        if self._frozen is None:
            without = (
                _booking_without_places(execution)
                for key, execution in self._waiting.items()
                if key not in self._places
            )
            self._frozen = (*self._places.values(), *without)
        return self._frozen

    def _keep_offer(self, execution_id: ExecutionId, promise: Promise) -> None:
        """Convert the room of an accepted offer to the execution's booking, at the time of its acceptance."""
        booking, terms = self._places.get(offer_name(execution_id, promise.offer)), promise.terms
        if booking is not None:
            begins_s, ends_s = max(booking.begins_s, terms.begin_by_s), min(booking.ends_s, terms.finish_s)
            self._places[execution_id] = changed(
                booking, execution_id=execution_id, whole="", begins_s=begins_s, ends_s=ends_s
            )

    @property
    def started_executions(self) -> Mapping[ExecutionId, Execution]:
        """Return promised executions that have started, as the scheduler sees them."""
        return self._started

    def promised_executions(self) -> tuple[Execution, ...]:
        """Return active promised executions, as they were submitted."""
        return (*self._held.values(), *self._waiting.values(), *self._active.values())

    def undecided_executions(self) -> tuple[Execution, ...]:
        """Return the executions that wait for a decision, the oldest first."""
        return tuple(sorted(self._asking.values(), key=_age)) if self._asking else ()

    def owners_of_offers(self) -> tuple[tuple[str, str], ...]:
        """Return the tenant and user of each execution or group with open offers."""
        wholes = {
            execution.conditions.whole or execution.id: (execution.tenant, execution.user)
            for execution in self._offered.values()
        }
        return tuple(wholes.values())

    def unplaced_offers(self) -> tuple[tuple[Execution, int], ...]:
        """Return the offers without a booking, by execution and number: another master made them."""
        return tuple(
            (execution, number)
            for execution in sorted(self._offered.values(), key=_age)
            for number in range(1, len(execution.offers.offers if execution.offers else ()) + 1)
            if offer_name(execution.id, number) not in self._places
        )

    def unplaced_executions(self) -> tuple[Execution, ...]:
        """Return promised executions that wait without a booking, the oldest promise first."""
        without = [
            execution
            for some in (self._waiting, self._held)
            for key, execution in some.items()
            if key not in self._places
        ]
        return tuple(sorted(without, key=_age_of_promise))


def _on_open_nodes(booking: Booking, nodes: Mapping[str, Node], tenant: str) -> bool:
    return all(
        name in nodes and nodes[name].open_to(tenant, booking.begins_s, booking.ends_s) for name, _ in booking.places
    )


def _put(some: dict[ExecutionId, Execution], execution: Execution, belongs: bool) -> None:
    if belongs:
        some[execution.id] = execution
    else:
        some.pop(execution.id, None)


def _booking_without_places(execution: Execution) -> Booking:
    assert execution.promise is not None
    terms = execution.promise.terms
    return Booking(
        execution.id,
        terms.begin_by_s,
        terms.finish_s,
        read_bytes_per_s=terms.read_bytes_per_s or 0,
        tenant=execution.tenant,
        user=execution.user,
    )


def _age(execution: Execution) -> tuple[float, ExecutionId]:
    return execution.submitted_at_s, execution.id


def _age_of_promise(execution: Execution) -> tuple[float, ExecutionId]:
    assert execution.promise is not None
    return execution.promise.at_s, execution.id
