"""The nodes at later times, estimated pessimistically: running executions end late, and bookings stay."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, ExecutionId, ExecutionState, ServiceState
from zoe_lib.domain.executions.gateway import held_resources
from zoe_lib.domain.values.frozen import changed
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.booking.bookings import Booking, BookingRoom, Leaving, booked_for
from zoe_master.scheduler.booking.spans import Span
from zoe_master.scheduler.ordering.booked import leaving_later
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.placement.admission import admit, surely_refused
from zoe_master.scheduler.placement.budget import GiveUp, never
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.promising.shares_later import FutureShares

# Maximum begins tried for one choice; each costs a scan of all nodes. If there are more, the earliest is sought among
# some of them, and then among those just before the first with room.
_LATER_MAX = 12
_EARLIER_MAX = 64


class FutureNodes:
    """The future of a snapshot's nodes. Other executions' elastic services count as absent where the policy takes them
    back.

    Promises hold at most the share of all cores that the policy allows, at any time.
    """

    def __init__(self, snapshot: Snapshot, policy: Policy, give_up: GiveUp = never) -> None:
        self.now_s = snapshot.now_s
        self.bookings = snapshot.bookings
        self._policy = policy
        self._give_up = give_up
        takes_back = policy.preemption == "elastic"
        self._base = snapshot.ledger()
        self._leaving: Sequence[Leaving] = sorted(
            leaving_later(snapshot, self._base, takes_back=takes_back), key=lambda item: item[:2]
        )
        for node, amount in _returned_amounts(snapshot.active, self._base, takes_back=takes_back):
            self._base.give_back(node, amount)
        self._made: dict[float, tuple[Ledger, int]] = {}
        self._booked: dict[float, BookingRoom] = {}
        cores_milli = sum(node.usable.cores_milli for node in self._base.nodes)
        self.share_milli = int(policy.promise_share * cores_milli)
        """Cores available to promises, in thousandths."""
        self.shares = FutureShares(snapshot, policy)
        """Bandwidth, and the rest of limits."""
        estimates = snapshot.estimates()
        self._promised = [
            (estimates.cautious_end_s(execution, self.now_s, 1.0), execution.application.core_resources().cores_milli)
            for execution in snapshot.active
            if execution.promise is not None
        ]

    def latest(self, wanted: Execution, begin_by_s: float, run_s: float, from_s: float = 0.0) -> Booking | None:
        """Return a booking of this duration that begins as late as possible, to disturb others least, by
        `begin_by_s`, and
        not before `from_s`; None if there is no room.
        """
        first_s = max(self.now_s, from_s)
        if begin_by_s < first_s:
            return None
        before_others = {booking.begins_s - run_s for booking in self.bookings}
        earlier = {at_s for at_s in before_others.union(self._turns()) if first_s < at_s < begin_by_s}
        begins = _spread([begin_by_s, *sorted(earlier, reverse=True), first_s], _LATER_MAX)
        return self._first_booking(wanted, begins, run_s)

    def earliest(self, wanted: Execution, run_s: float, from_s: float = 0.0) -> Booking | None:
        """Return a booking of this duration that begins as early as possible, not before `from_s`; None if there is no
        reliable room.
        """
        first_s = max(self.now_s, from_s)
        begins = [first_s, *(at_s for at_s in self._turns() if at_s > first_s)]
        tried = _spread(begins, _EARLIER_MAX)
        found = self._first_booking(wanted, tried, run_s)
        if found is None or len(tried) == len(begins) or found.begins_s == first_s:
            return found
        before_s = tried[tried.index(found.begins_s) - 1]
        between = [at_s for at_s in begins if before_s < at_s < found.begins_s]
        return self._first_booking(wanted, _spread(between, _EARLIER_MAX), run_s) or found

    def movable_s(self, wanted: Sequence[tuple[Execution, Booking]], most_s: int) -> int:
        """Return by how many full seconds all these bookings can begin later, at any moment until then; at most this
        many.
        """
        ends = {booking.ends_s for _, booking in wanted}
        until = (closes_s - ends_s for closes_s in self._closings() for ends_s in ends)
        tries = sorted({most_s, *(int(late_s) for late_s in until if 1 <= late_s < most_s)}, reverse=True)
        return next((late_s for late_s in tries[:_LATER_MAX] if late_s > 0 and self._may_move(wanted, late_s)), 0)

    def _may_move(self, wanted: Sequence[tuple[Execution, Booking]], late_s: int) -> bool:
        longer = [(execution, lasting(booking, late_s)) for execution, booking in wanted]
        rooms = [booking for _, booking in longer]
        with self.trial():
            self.with_bookings(rooms)
            return self.still_free(rooms) and all(self._allowed(execution, booking) for execution, booking in longer)

    def _allowed(self, wanted: Execution, booking: Booking) -> bool:
        """Return whether holds of nodes, the share of promises and limits allow a booking."""
        begins_s, ends_s, index = booking.begins_s, booking.ends_s, self._base.index
        return (
            all(self._base.nodes[index[name]].open_to(wanted.tenant, begins_s, ends_s) for name, _ in booking.places)
            and self._within_share(wanted, begins_s, ends_s)
            and self.shares.fit(wanted, self.bookings, begins_s, ends_s)
        )

    def still_free(self, bookings: Sequence[Booking]) -> bool:
        """Return whether the room of these bookings is free beside all others, and beside each other."""
        names = {booking.execution_id for booking in bookings}
        everything = [*(booking for booking in self.bookings if booking.execution_id not in names), *bookings]
        index = self._base.index
        if not all(
            name in index and self._base.nodes[index[name]].ready for booking in bookings for name, _ in booking.places
        ):
            return False
        if not all(self.shares.still_fits(booking, everything) for booking in bookings):
            return False
        room = BookingRoom(everything, index, self._leaving)
        return all(
            room.shortfall(index[name], max(booking.begins_s, self.now_s), booking.ends_s).fits_in(
                self._base.free(index[name])
            )
            for booking in bookings
            for name, _ in booking.places
        )

    def with_bookings(self, bookings: Iterable[Booking]) -> None:
        """Add these bookings."""
        fresh = {booking.execution_id: booking for booking in bookings}
        kept = (booking for booking in self.bookings if booking.execution_id not in fresh)
        self.bookings = (*kept, *fresh.values())
        self._booked = {}

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Drop the bookings made within the context."""
        before = self.bookings
        try:
            yield
        finally:
            self.bookings, self._booked = before, {}

    def _turns(self) -> list[float]:
        """Return the times at which room becomes free."""
        ends = {ends_s for ends_s, _, _ in self._leaving}
        ends |= {booking.ends_s for booking in self.bookings}
        ends |= {booking.bandwidth_span(self.now_s)[1] for booking in self.bookings if booking.read_bytes_per_s}
        ends |= {hold.until_s for node in self._base.nodes for hold in node.holds if hold.until_s is not None}
        return [self.now_s, *sorted(at_s for at_s in ends if at_s > self.now_s)]

    def _closings(self) -> Iterator[float]:
        """Yield the times from which room is taken."""
        yield from (booking.begins_s for booking in self.bookings)
        yield from (hold.since_s for node in self._base.nodes for hold in node.holds)

    def _first_booking(self, wanted: Execution, begins: Iterable[float], run_s: float) -> Booking | None:
        for begins_s in begins:
            if begins_s == math.inf:
                return None
            ends_s = begins_s + run_s
            if not self._within_share(wanted, begins_s, ends_s):
                continue
            if not self.shares.fit(wanted, self.bookings, begins_s, ends_s):
                continue
            ledger = self._ledger_at(begins_s)
            placer = ServicePlacer(ledger, self._policy, _Span(begins_s, ends_s), self._give_up)
            places = None if surely_refused(wanted, placer) else admit(wanted, placer)
            if isinstance(places, tuple):
                amounts = ledger.holdings_at(wanted, places)
                named = tuple((ledger.nodes[node].name, amount) for node, amount in amounts)
                return Booking(wanted.id, begins_s, ends_s, named, tenant=wanted.tenant, user=wanted.user)
        return None

    def _within_share(self, wanted: Execution, begins_s: float, ends_s: float) -> bool:
        """Return whether promises, and offers of a group, stay within their share in all this time."""
        own_milli = wanted.application.core_resources().cores_milli
        held = sum(milli for until_s, milli in self._promised if until_s > begins_s)
        changes: list[tuple[float, int]] = [
            (until_s, -milli) for until_s, milli in self._promised if begins_s < until_s < ends_s
        ]
        for from_s, until_s, milli in self._booked_cores(wanted.id):
            if from_s < ends_s and until_s > begins_s:
                changes += [(max(from_s, begins_s), milli), (until_s, -milli)]
        for _, milli in sorted(changes):
            if held + own_milli > self.share_milli:
                return False
            held += milli
        return held + own_milli <= self.share_milli

    def _booked_cores(self, but: ExecutionId) -> Iterator[Span]:
        """Yield the cores of all other bookings; of offers for one execution, the maximum at each time."""
        of_each: dict[ExecutionId, list[Booking]] = defaultdict(list)
        for booking in self.bookings:
            of_each[booked_for(booking.execution_id)].append(booking)
        for some in (some for name, some in of_each.items() if name != but):
            for from_s, until_s in pairwise(
                sorted({at_s for entry in some for at_s in (entry.begins_s, entry.ends_s)})
            ):
                yield from_s, until_s, max((o.cores_milli for o in some if o.begins_s <= from_s < o.ends_s), default=0)

    def _ledger_at(self, begins_s: float) -> Ledger:
        """Return the accounts at a later time, continued from the nearest earlier ones."""
        known = max((at_s for at_s in self._made if at_s <= begins_s), default=None)
        ledger, done = (self._base.copy(), 0) if known is None else self._made[known]
        ledger = ledger.copy()
        while done < len(self._leaving) and self._leaving[done][0] <= begins_s:
            _, node, amount = self._leaving[done]
            ledger.give_back(node, amount)
            done += 1
        self._made[begins_s] = ledger.copy(), done
        if self.bookings and begins_s not in self._booked:
            self._booked[begins_s] = BookingRoom(self.bookings, ledger.index, self._leaving[done:])
        ledger.booked = self._booked.get(begins_s)
        return ledger


class _Span:
    """The same time for every execution."""

    def __init__(self, begins_s: float, ends_s: float) -> None:
        self._span = begins_s, ends_s

    def __call__(self, _execution: Execution) -> tuple[float, float]:
        return self._span


def _returned_amounts(
    active: Iterable[Execution], ledger: Ledger, *, takes_back: bool
) -> Iterator[tuple[int, Resources]]:
    """Yield resources that are leaving, or taken back on demand."""
    for execution in active:
        stopping = execution.state is ExecutionState.STOPPING
        for service, amount in held_resources(execution, ledger.gateway):
            goes = stopping or service.state is ServiceState.STOPPING or (takes_back and not service.core)
            if goes and service.node in ledger.index:
                yield ledger.index[service.node], amount


def lasting(booking: Booking, late_s: float) -> Booking:
    """Return the booking with room for the same time if it begins this much later."""
    return changed(booking, ends_s=booking.ends_s + late_s)


def _spread(times: Sequence[float], most: int) -> Sequence[float]:
    """Return at most this many of these times, evenly chosen, with the first and the last."""
    if len(times) <= most:
        return times
    step = (len(times) - 1) / (most - 1)
    return [times[round(number * step)] for number in range(most)]
