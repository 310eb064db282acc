"""The rest of limits at later times: running executions hold their part until their pessimistic end, and bookings from
their begin to their end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from zoe_lib.domain.cluster.policy import Policy, limits_of
from zoe_lib.domain.executions.execution import Execution, ServiceState
from zoe_lib.domain.executions.limits import Limit, LimitSubject
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.domain.values.resources import Resources, total
from zoe_master.scheduler.booking.bookings import CAUTION, Booking, pessimistic_end
from zoe_master.scheduler.booking.spans import BookingSpans, most_held
from zoe_master.scheduler.ordering.estimate import Estimates
from zoe_master.scheduler.ordering.snapshot import Snapshot

_Holding = tuple[float, float, Resources]
_BOOKED = Reason(
    ReasonCode.BOOKED,
    "The rest of its tenant's or user's limit is kept for promised executions that begin before it is expected to end.",
    hint="with a shorter run time or time limit it may start earlier",
)


class FutureLimits:
    """Limits of cores and memory over time. limited: whether there are any."""

    def __init__(self, snapshot: Snapshot, policy: Policy) -> None:
        self.limited = policy.limits.can_delay_executions()
        self._policy, self._now_s = policy, snapshot.now_s
        self._limits: dict[tuple[str, str], Sequence[tuple[LimitSubject, Limit]]] = {}
        self._held: dict[LimitSubject, list[_Holding]] = defaultdict(list)
        estimates, takes_back = snapshot.estimates(), policy.preemption == "elastic"
        for execution in snapshot.active if self.limited else ():
            ends_s = estimates.cautious_end_s(execution, self._now_s, CAUTION)
            for subject, _ in self.limits_for(execution):
                self._held[subject].append((self._now_s, ends_s, _staying(execution, takes_back)))

    def limits_for(self, execution: Execution) -> Sequence[tuple[LimitSubject, Limit]]:
        """Return the limits that apply to an execution."""
        if not self.limited:
            return ()
        key = execution.tenant, execution.user
        known = self._limits.get(key)
        if known is None:
            known = self._limits[key] = limits_of(self._policy, *key)
        return known

    def allow(self, wanted: Execution, others: Sequence[Booking], begins_s: float, ends_s: float) -> bool:
        """Return whether all limits allow its essential services in all of this time; `others`: other bookings."""
        core = wanted.application.core_resources()
        for subject, limit in self.limits_for(wanted):
            for most, more, spans in _amounts(limit, core, [*self.holdings_of(subject), *booked_by(subject, others)]):
                if most_held(spans, begins_s, ends_s) + more > most:
                    return False
        return True

    def holdings_of(self, subject: LimitSubject) -> Sequence[_Holding]:
        """Return the use of a limit by running executions."""
        return self._held.get(subject, ())


class BookedLimits:
    """Parts of limits booked for promised executions, while a plan is made."""

    def __init__(self, snapshot: Snapshot, policy: Policy, estimates: Estimates) -> None:
        self._bookings = snapshot.bookings if policy.limits.can_delay_executions() else ()
        self._later = FutureLimits(snapshot, policy) if self._bookings else None
        self._estimates, self._now_s = estimates, snapshot.now_s
        self._tables: dict[LimitSubject, tuple[BookingSpans, BookingSpans] | None] = {}
        self._taken: dict[LimitSubject, Resources] = {}

    def take(self, execution: Execution) -> None:
        """Count an execution that starts now."""
        if self._later is not None:
            for subject, _ in self._later.limits_for(execution):
                core = execution.application.core_resources()
                self._taken[subject] = self._taken.get(subject, Resources()) + core

    def refusal(self, execution: Execution) -> Reason | None:
        """Return a reason if the rest of a limit is booked for executions that begin before its expected end; None if
        not. Promised executions got their part with the decision.
        """
        if self._later is None or execution.promise is not None:
            return None
        ends_s = pessimistic_end(self._now_s, self._now_s + self._estimates.run_s(execution))
        for subject, limit in self._later.limits_for(execution):
            tables = self._tables_of(subject)
            if tables is None:
                continue
            core = execution.application.core_resources() + self._taken.get(subject, Resources())
            for table, (most, more, _) in zip(tables, _amounts(limit, core, ()), strict=True):
                if table.most_before(ends_s) + more > most:
                    return _BOOKED
        return None

    def _tables_of(self, subject: LimitSubject) -> tuple[BookingSpans, BookingSpans] | None:
        """Return cores and memory held over time; None without bookings."""
        if subject not in self._tables:
            booked = list(booked_by(subject, self._bookings))
            held = [*self._later.holdings_of(subject), *booked] if self._later is not None and booked else []
            cores, memory = (spans for _, _, spans in _amounts(Limit(), Resources(), held))
            tables = BookingSpans(cores, self._now_s), BookingSpans(memory, self._now_s)
            self._tables[subject] = tables if held else None
        return self._tables[subject]


def booked_by(subject: LimitSubject, bookings: Iterable[Booking]) -> Iterator[_Holding]:
    """Yield the parts of a limit held by bookings."""
    for booking in bookings:
        if booking.tenant == subject.tenant and subject.user in (None, booking.user):
            yield booking.begins_s, booking.ends_s, total(amount for _, amount in booking.places)


def _amounts(
    limit: Limit, wanted: Resources, held: Sequence[_Holding]
) -> Iterator[tuple[float, int, Sequence[tuple[float, float, int]]]]:
    """Yield of cores, then of memory: the maximum, the wanted amount, and the held spans."""
    endless = float("inf")
    most = limit.cores_milli, limit.memory_bytes
    yield (
        endless if most[0] is None else most[0],
        wanted.cores_milli,
        [(a, b, resources.cores_milli) for a, b, resources in held],
    )
    yield (
        endless if most[1] is None else most[1],
        wanted.memory_bytes,
        [(a, b, resources.memory_bytes) for a, b, resources in held],
    )


def _staying(execution: Execution, takes_back: bool) -> Resources:
    """Return the amount that limits count of it and that stays: without elastic services, where the policy takes them
    back.
    """
    return total(
        execution.component_of(service).reservation
        for service in execution.services
        if service.node is not None
        and service.alive
        and service.state is not ServiceState.STOPPING
        and (service.core or not takes_back)
    )
