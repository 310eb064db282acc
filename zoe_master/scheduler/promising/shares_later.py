"""Shares of promises at later times, apart from room on nodes: bandwidth of the object store, and their tenants'
limits.

Running executions hold their part until their pessimistic end, and bookings from their begin to their end, so that
resources held by others now can be promised for later. Several offers for one execution count as if all of them were
accepted, since they may differ in time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.executions.promises import required_rates
from zoe_master.scheduler.booking.bookings import CAUTION, Booking, booked_for, offer_of
from zoe_master.scheduler.booking.spans import Span, most_held
from zoe_master.scheduler.ordering.limits_later import FutureLimits
from zoe_master.scheduler.ordering.snapshot import Snapshot


class _Reader(NamedTuple):
    """An execution with its bandwidth to read, and the end of that."""

    execution_id: ExecutionId
    tenant: str
    promised: bool
    span: Span


class FutureShares:
    """The rest at later times.

    read_rate: bytes per second to read for promises; 0 if the capacity of the object store is unknown.
    """

    def __init__(self, snapshot: Snapshot, policy: Policy) -> None:
        self._policy, self._limits = policy, FutureLimits(snapshot, policy)
        known = snapshot.storage is not None and not snapshot.storage.problem
        self._supply = snapshot.storage.rates.read if snapshot.storage is not None and known else 0
        self.read_rate = int(policy.promise_share * self._supply)
        self._readers: list[_Reader] = []
        estimates, now_s = snapshot.estimates(), snapshot.now_s
        self._now_s = now_s
        for execution in snapshot.active:
            wanted = required_rates(execution.application)
            if wanted is not None and wanted.read:
                ends_s = estimates.cautious_end_s(execution, now_s, CAUTION)
                self._readers.append(
                    _Reader(execution.id, execution.tenant, execution.promise is not None, (now_s, ends_s, wanted.read))
                )

    def fit(self, wanted: Execution, bookings: Iterable[Booking], begins_s: float, ends_s: float) -> bool:
        """Return whether its promised bandwidth, and its tenant's and user's limits, allow it in all of this time.
        bookings: those of other executions.
        """
        rate = wanted.promise.terms.read_bytes_per_s if wanted.promise is not None else None
        if not rate and not self._limits.limited:
            return True
        others = [booking for booking in bookings if booked_for(booking.execution_id) != wanted.id]
        fits = self._rate_fits(wanted.tenant, rate or 0, others, begins_s, ends_s)
        return fits and self._limits.allow(wanted, others, begins_s, ends_s)

    def still_fits(self, booking: Booking, bookings: Iterable[Booking]) -> bool:
        """Return whether the bandwidth of a booking is free beside the other bookings."""
        if not booking.read_bytes_per_s:
            return True
        group, number = offer_of(booking)
        others = [
            entry
            for entry in bookings
            if entry.read_bytes_per_s
            and entry.execution_id != booking.execution_id
            and (offer_of(entry)[0] != group or offer_of(entry)[1] == number)
        ]
        begins_s = max(booking.begins_s, self._now_s)
        return self._rate_fits(booking.tenant, booking.read_bytes_per_s, others, begins_s, booking.ends_s)

    def may_hold(self, execution: Execution, rate: int, bookings: Iterable[Booking], until_s: float = 0.0) -> bool:
        """Return whether a running execution with bandwidth may have this total until it ends, and at least until this
        time.
        """
        mine = self._reader_of(execution)
        if mine is None:
            return False
        _, ends_s, now = mine.span
        until_s, others = max(ends_s, until_s), [reader for reader in self._readers if reader is not mine]
        return rate <= now or self._rate_fits(mine.tenant, rate, bookings, self._now_s, until_s, others)

    def hold(self, execution: Execution, rate: int) -> None:
        """Count it with this much from now on."""
        mine = self._reader_of(execution)
        if mine is not None:
            begins_s, ends_s, _ = mine.span
            self._readers[self._readers.index(mine)] = mine._replace(span=(begins_s, ends_s, rate))

    def _reader_of(self, execution: Execution) -> _Reader | None:
        return next((reader for reader in self._readers if reader.execution_id == execution.id), None)

    def free_rate(self) -> int:
        """Return the bandwidth for promises that is free now, without bookings."""
        all_, promised = (
            sum(
                reader.span[2]
                for reader in self._readers
                if reader.span[1] > self._now_s and (reader.promised or not only)
            )
            for only in (False, True)
        )
        return max(min(self._supply - all_, self.read_rate - promised), 0)

    def _rate_fits(
        self,
        tenant: str,
        rate: int,
        bookings: Iterable[Booking],
        begins_s: float,
        ends_s: float,
        readers: Sequence[_Reader] | None = None,
    ) -> bool:
        """Return whether it fits beside these bookings and these readers; None: all."""
        if not rate:
            return True
        readers = self._readers if readers is None else readers
        booked = [
            (booking.tenant, booking.bandwidth_span(self._now_s)) for booking in bookings if booking.read_bytes_per_s
        ]
        limit = self._policy.limits.for_subject(tenant).read_bytes_per_s
        of_all = [reader.span for reader in readers] + [span for _, span in booked]
        of_promises = [reader.span for reader in readers if reader.promised] + [span for _, span in booked]
        of_tenant = [reader.span for reader in readers if reader.tenant == tenant]
        of_tenant += [span for name, span in booked if name == tenant]
        return all(
            most is None or most_held(spans, begins_s, ends_s) + rate <= most
            for spans, most in ((of_all, self._supply), (of_promises, self.read_rate), (of_tenant, limit))
        )
