"""Bookings in a pass: the room that they leave, and promised executions that must start now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, ExecutionState, ServiceState
from zoe_lib.domain.executions.gateway import held_resources
from zoe_master.scheduler.booking.bookings import CAUTION, Booking, BookingRoom, Leaving
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.placement.free_resources import Ledger


def booked_ledger(snapshot: Snapshot, policy: Policy) -> Ledger:
    """Return the present accounts of the nodes, with bookings."""
    ledger = snapshot.ledger()
    if snapshot.bookings:
        leaving = leaving_later(snapshot, ledger, takes_back=policy.preemption == "elastic")
        ledger.booked = BookingRoom(snapshot.bookings, ledger.index, leaving)
    return ledger


def leaving_later(snapshot: Snapshot, ledger: Ledger, *, takes_back: bool) -> Iterator[Leaving]:
    """Yield resources that leave the nodes when executions end; without those leaving now, and without elastic services
    if these are taken back.
    """
    estimates = snapshot.estimates()
    for execution in snapshot.active:
        if execution.state is ExecutionState.STOPPING:
            continue
        ends_s = estimates.cautious_end_s(execution, snapshot.now_s, CAUTION)
        for service, amount in held_resources(execution, ledger.gateway):
            stays = service.core or not takes_back
            if service.node in ledger.index and stays and service.state is not ServiceState.STOPPING:
                yield ends_s, ledger.index[service.node], amount


def due_first(ordered: Sequence[Execution], bookings: Iterable[Booking], now_s: float) -> Sequence[Execution]:
    """Return the queue with executions at its head that must start now to keep their promise, the earliest first."""
    due = {
        booking.execution_id: booking.begins_s
        for booking in bookings
        if booking.begins_s <= now_s or not booking.places
    }
    if not due:
        return ordered
    first = sorted((e for e in ordered if e.id in due), key=lambda e: (due[e.id], e.submitted_at_s, e.id))
    return [*first, *(e for e in ordered if e.id not in due)] if first else ordered
