"""Forecast when an execution will start: simulate the present snapshot with the scheduler itself. Pure.

Run times are the expected ones; elastic services are left out, since no core waits for them. The steps are bounded:
executions still ahead after the last one are extrapolated from their area (core-seconds) and from the rate at which
cores were given out in the simulated steps.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.events import Queued, StartPlanned
from zoe_lib.domain.executions.execution import Execution, ExecutionId, ExecutionState, Mark
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.domain.values.resources import NOTHING, Resources, total
from zoe_master.scheduler.backfill.reclaim import ElasticReclaim
from zoe_master.scheduler.booking.bookings import BookingRoom
from zoe_master.scheduler.ordering.booked import due_first, leaving_later
from zoe_master.scheduler.ordering.estimate import Estimates
from zoe_master.scheduler.ordering.limits import TenantReservations
from zoe_master.scheduler.ordering.queue import Pass, queue_sequence
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.placement.admission import core_requests, lasting_refusal, refusal
from zoe_master.scheduler.placement.budget import GiveUp, OutOfBudget, never
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.placement.request import Request
from zoe_master.scheduler.queue_pass import QueuePass
from zoe_master.scheduler.what_if.reserved_wait import Reservations

STEPS_MAX = 200
# Executions examined in one step, and those behind the target that may matter by passing it.
_WINDOW = 64
_BEHIND = 32
# Maximum reservations in one forecast.
_RESERVED_MAX = 500
_STOPPING_S = 5.0
# Factor for the distance covered by half of the steps; all of them cover about twice that.
_FAR = 4.0
_NO_ROOM = Reason(ReasonCode.NO_RESOURCES, "")


@value(frozen=True, slots=True)
class ForecastWait:
    """The result of the simulation, in seconds from now; infinite if an execution ahead has no known end."""

    seconds: float
    extrapolated: bool = False


def wait_of(
    snapshot: Snapshot, policy: Policy, execution_id: ExecutionId, estimates: Estimates, give_up: GiveUp = never
) -> ForecastWait | None:
    """Return how long a queued execution will wait; None if it is not queued.

    `estimates`: the real run times to expect. Once `give_up` returns True, the rest is extrapolated; infinite if
    nothing was simulated yet.
    """
    present = Pass.from_snapshot(snapshot, policy)
    ordered = queue_sequence(present)
    position = next((i for i, e in enumerate(ordered) if e.id == execution_id), None)
    if position is None:
        return None
    execution = ordered[position]
    ahead = ordered[: position + 1 + _BEHIND]
    promised = [execution for execution in ordered[position + 1 + _BEHIND :] if execution.promise is not None]
    future = _FutureCluster(present, estimates, [*ahead, *promised], give_up)
    try:
        if give_up():
            raise OutOfBudget
        if future.never_starts(execution):
            return ForecastWait(math.inf)
        # Reservations ignore the limits of tenants and users, the steps do not.
        if policy.backfill == "conservative" and not policy.limits.can_delay_executions():
            return future.reserved_wait_of(execution)
        return future.wait_of(execution)
    except OutOfBudget:
        return ForecastWait(future.extrapolated_s(execution), extrapolated=True)


class _FutureCluster:
    """The cluster from now on, one expected end after the other, on one ledger."""

    def __init__(
        self,
        present: Pass,
        estimates: Estimates,
        ordered: Sequence[Execution],
        give_up: GiveUp,
    ) -> None:
        self._snapshot = snapshot = present.snapshot
        self._virtual = present.moment.virtual
        self._policy = policy = present.policy
        self._estimates = estimates
        self._began_s = self._now_s = snapshot.now_s
        self._waiting = {e.id: e for e in ordered}
        self._gives_way = gives_way = policy.preemption == "elastic"  # then elastic services block no other
        self._active = {e.id: _core_only(e) if gives_way else e for e in snapshot.active}
        ledger = Ledger(snapshot.nodes, self._active.values(), snapshot.locality, snapshot.paths)
        self._bookings = snapshot.bookings
        self._book(snapshot, ledger)
        self._give_up = give_up
        self._placer = ServicePlacer(ledger, policy, self._span, give_up, self._leaves_s)
        self._ends = [(_expected_end_s(e, estimates, self._now_s), e.id) for e in self._active.values()]
        self._ends += [(e.not_before_s, "") for e in ordered if e.not_before_s > self._now_s]
        freed = (hold.until_s for node in snapshot.nodes for hold in node.holds)
        booked_s = (at_s for booking in snapshot.bookings for at_s in (booking.begins_s, booking.ends_s))
        self._ends += [(at_s, "") for at_s in booked_s if at_s > self._now_s]
        holds_end = [(until_s, "") for until_s in freed if until_s is not None and until_s > self._now_s]
        self._ends += holds_end
        self._some_last = any(not n.ready or n.holds or n.foreign != NOTHING for n in snapshot.nodes)
        # The return of a node that is down or drained without an end is unknown, and so is the end of foreign programs.
        self._hopeless = {ReasonCode.NEVER_FITS, ReasonCode.FOREIGN_USE} | (
            set() if holds_end else {ReasonCode.NODES_AWAY, ReasonCode.WINDOW_AHEAD, ReasonCode.NO_NODES}
        )
        heapq.heapify(self._ends)
        self._given = 0.0  # core-seconds of started executions

    def never_starts(self, wanted: Execution) -> bool:
        """Return whether its core fits none of the expected nodes, even when they are empty."""
        requests = core_requests(wanted, self._placer)
        reason = lasting_refusal(wanted, requests[0], self._placer) if requests else None
        return reason is not None and reason.code in self._hopeless

    def wait_of(self, wanted: Execution) -> ForecastWait:
        """Step until it starts, no further end is expected, or the steps are used up.

        An execution that, after half of them, is out of reach of all steps is extrapolated from there.
        """
        for step in range(STEPS_MAX):
            if wanted.id in self._step(wanted, first=step == 0):
                return ForecastWait(self._now_s - self._began_s)
            if wanted.id not in self._waiting or not self._advance():
                return ForecastWait(math.inf)
            if step == STEPS_MAX // 2 and self._is_far(wanted):
                break
        return ForecastWait(self.extrapolated_s(wanted), extrapolated=True)

    def reserved_wait_of(self, wanted: Execution) -> ForecastWait:
        """Reserve the earliest room for each execution in turn; the reservation of this one is the answer.

        The policy does the same with the users' estimates, and again at every end. Here, early ends are expected.
        """
        ledger = self._placer.ledger
        leaves_s = self._leaves_s(wanted)
        present = [i for i, node in enumerate(ledger.nodes) if node.open_to(wanted.tenant, self._now_s, leaves_s)]
        cores, memory = (sum(max(free[i], 0) for i in present) for free in (ledger.free_cores, ledger.free_memory))
        ends = {execution_id: at_s for at_s, execution_id in self._ends if execution_id}
        releases = ((ends[e.id], total(amount for _, amount in ledger.holdings(e))) for e in self._active.values())
        reservations = Reservations(Resources(cores, memory), releases, self._now_s)
        latest_s = self._now_s
        for execution in islice(tuple(self._waiting.values()), _RESERVED_MAX):
            if self._give_up():
                break
            run_s = self._estimates.run_s(execution)
            begin_s = reservations.reserve(execution.application.core_resources(), run_s)
            if execution.id == wanted.id:
                return ForecastWait(max(begin_s, execution.not_before_s) - self._began_s)
            del self._waiting[execution.id]
            if begin_s < math.inf:
                latest_s = max(latest_s, begin_s)
                self._given += _area(execution, run_s)
        self._now_s = latest_s
        return ForecastWait(self.extrapolated_s(wanted), extrapolated=True)

    def _step(self, wanted: Execution, first: bool) -> Iterable[ExecutionId]:
        """Run one pass over the next executions of the queue; return which start now."""
        window = {e.id: e for e in islice(self._waiting.values(), _WINDOW)}
        window[wanted.id] = self._waiting[wanted.id]
        due = (booking.execution_id for booking in self._bookings if booking.begins_s <= self._now_s)
        window |= {name: self._waiting[name] for name in due if name in self._waiting}
        snapshot = replace(
            self._snapshot,
            now_s=self._now_s,
            queued=tuple(window.values()),
            active=tuple(self._active.values()),
            bookings=self._bookings,
            held={k: v for k, v in self._snapshot.held.items() if k != wanted.id} if first else {},
        )
        self._virtual.advance(self._now_s)
        self._book(snapshot, self._placer.ledger)
        present = Pass.from_snapshot(snapshot, self._policy, self._virtual)
        nothing_to_lend = ElasticReclaim(self._placer, ())
        refuse = refusal if first or self._some_last else _no_room_reason
        holdings = TenantReservations(snapshot.active, self._policy)
        walk = QueuePass(self._placer, nothing_to_lend, present, holdings, refuse)
        walk.walk(due_first(queue_sequence(present), self._bookings, self._now_s))
        for execution_id, placements in walk.starts.items():
            execution = _core_only(self._waiting.pop(execution_id))
            self._active[execution_id] = apply(execution, StartPlanned(at_s=self._now_s, placements=placements))
            run_s = self._estimates.run_s(execution)
            heapq.heappush(self._ends, (self._now_s + run_s, execution_id))
            self._given += _area(execution, run_s)
        self._bookings = tuple(booking for booking in self._bookings if booking.execution_id not in walk.starts)
        for execution_id in [k for k, reason in walk.reasons.own.items() if reason.code in self._hopeless]:
            del self._waiting[execution_id]
        return walk.starts

    def _book(self, snapshot: Snapshot, ledger: Ledger) -> None:
        """Reserve booked and unused room, like the scheduler."""
        if not self._bookings:
            return
        self._bookings = tuple(booking for booking in self._bookings if booking.ends_s > self._now_s)
        leaving = leaving_later(snapshot, ledger, takes_back=self._gives_way)
        ledger.booked = BookingRoom(self._bookings, ledger.index, leaving)

    def _span(self, execution: Execution) -> tuple[float, float]:
        return self._now_s, self._now_s + self._estimates.run_s(execution)

    def _leaves_s(self, execution: Execution) -> float:
        if execution.promise is not None:
            return self._span(execution)[1]
        return self._estimates.latest_end_s(execution, self._now_s)

    def _advance(self) -> bool:
        """Advance to the next expected end, and past all others at the same time; return False if there is none."""
        if not self._ends or self._ends[0][0] == math.inf:
            return False
        self._now_s = max(self._ends[0][0], self._now_s)
        while self._ends and self._ends[0][0] <= self._now_s:
            _, execution_id = heapq.heappop(self._ends)
            ended = self._active.pop(execution_id, None)
            for node, amount in self._placer.ledger.holdings(ended) if ended is not None else ():
                self._placer.ledger.give_back(node, amount)
        return True

    def _is_far(self, wanted: Execution) -> bool:
        return _FAR * (self._now_s - self._began_s) < self.extrapolated_s(wanted) < math.inf

    def extrapolated_s(self, wanted: Execution) -> float:
        """Return seconds from now, if areas are still given out as fast as in the simulated steps."""
        ahead = 0.0
        for execution in self._waiting.values():
            if execution.id == wanted.id:
                break
            run_s = self._estimates.run_s(execution)
            if run_s == math.inf:
                return math.inf
            ahead += _area(execution, run_s)
        simulated_s = self._now_s - self._began_s
        if self._given <= 0 or simulated_s <= 0:
            return math.inf
        return simulated_s + ahead * simulated_s / self._given


def _no_room_reason(_execution: Execution, _request: Request, _placer: ServicePlacer) -> Reason:
    """Return that it does not fit: executions that could never fit were found in the first step."""
    return _NO_ROOM


def _core_only(execution: Execution) -> Execution:
    """Return an execution without its elastic services, and as queued if it waits."""
    if execution.state is ExecutionState.SUBMITTED:
        execution = apply(execution, Queued(at_s=execution.submitted_at_s))
    return replace(execution, services=tuple(s for s in execution.services if s.core))


def _expected_end_s(execution: Execution, estimates: Estimates, now_s: float) -> float:
    """Expect an execution beyond its run time to exceed it by as much again."""
    if execution.state is ExecutionState.STOPPING:
        return now_s + _STOPPING_S
    run_s = estimates.run_s(execution)
    ran_s = now_s - execution.marks[Mark.PLACED]
    limit_s = execution.application.time_limit_s or math.inf
    return now_s + min(run_s - ran_s if ran_s < run_s else ran_s - run_s, max(limit_s - ran_s, 0.0))


def _area(execution: Execution, run_s: float) -> float:
    return run_s * max(execution.application.core_resources().cores_milli, 1) / 1000
