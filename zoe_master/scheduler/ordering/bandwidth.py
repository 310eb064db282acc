"""Admit executions with required bandwidth: the sum of all guarantees stays within the capacity for guarantees.

An execution that waits for bandwidth blocks no execution without it. Among those that require bandwidth, the first
waiting one keeps a reservation as in EASY backfill, so that many small ones do not pass it for ever.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from zoe_client.words.amounts import plain
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.executions.promises import BandwidthSupply, Rates, required_rates
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_master.scheduler.booking.bookings import CAUTION, Booking, booked_for, pessimistic_end
from zoe_master.scheduler.booking.spans import BookingSpans, Span, most_held
from zoe_master.scheduler.ordering.bandwidth_lines import BandwidthLines, MayStart
from zoe_master.scheduler.ordering.estimate import Estimates

_NO_SUPPLY_HINT = "it starts when a storage controller can guarantee it; with `preferred` it would not wait"
_AWAY_HINT = "it starts when the object store is back; with `preferred` it would not wait"
_HINT = "it starts when enough executions with guaranteed bandwidth have ended; with `preferred` it would not wait"
_MB = 1e6
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86400
# Granularity of reported times: a time that changed in each pass would be journalled at every tick.
_STEP_S = 300
_HOLDS_S = 0.001


class Guarantees:
    """Guarantees while a plan is made. `supply` None: there is no storage controller."""

    def __init__(
        self,
        active: Iterable[Execution],
        supply: BandwidthSupply | None,
        policy: Policy,
        estimates: Estimates,
        now_s: float,
        bookings: Iterable[Booking] = (),
    ) -> None:
        self._booked = _booked_bandwidth(bookings)
        self._readings = [booking for booking in bookings if booking.read_bytes_per_s]
        self._held: list[Span] = []  # pessimistic ends of running executions' bandwidth to read
        self._taken = 0
        self._table: BookingSpans | None = None
        self._supply = supply
        self._estimates = estimates
        self._now_s = now_s
        self._free = (supply.rates if supply is not None else Rates()) - sum(self._booked.values(), Rates())
        self._of_tenants = BandwidthLines(policy)
        self._ends: list[tuple[float, Rates]] = []
        self._first: ExecutionId | None = None
        self._asked: dict[ExecutionId, int] = {}  # in the sequence of the queue
        self._first_starts_s = math.inf
        self._beside_first = Rates()
        for execution in active:
            if execution.application.storage is not None and required_rates(execution.application) is not None:
                self._add(execution, estimates.end_s(execution, now_s), estimates.release_s(execution, now_s))
                if self._readings:
                    self._hold(execution, estimates.cautious_end_s(execution, now_s, CAUTION))

    def refusal(self, execution: Execution, may_start: MayStart = lambda _: True) -> Reason | None:
        """Return why its required bandwidth cannot be guaranteed now; None if it can, or it requires none.

        `may_start`: whether it could start with it; else it keeps no turn in its tenant's line.
        """
        demand = required_rates(execution.application)
        if demand is None:
            return None
        self._asked.setdefault(execution.id, len(self._asked))
        if self._supply is None or self._supply.problem:
            why = self._supply.problem if self._supply is not None else "no storage controller is configured"
            return _reason(f"{why}; no bandwidth can be guaranteed", _NO_SUPPLY_HINT)
        return self._limit_refusal(execution, demand, self._supply, may_start) or self._shortage(
            execution, demand, self._supply
        )

    def take(self, execution: Execution) -> None:
        """Count its bandwidth: it starts now, or has a reserved place."""
        wanted = required_rates(execution.application)
        if wanted is None:
            return
        ends_s = self._now_s + self._estimates.run_s(execution)
        self._taken += wanted.read
        self._free += self._booked.pop(execution.id, Rates())
        self._add(execution, ends_s, self._now_s + self._estimates.guess_s(execution))
        if self._first is not None and ends_s > self._first_starts_s:
            self._beside_first -= wanted

    def _shortage(self, execution: Execution, wanted: Rates, supply: BandwidthSupply) -> Reason | None:
        if not wanted.fits_in(supply.rates):
            why = f"{_shortage_text(wanted, supply.rates)} can be promised in all{_others_text(wanted, supply)}"
            if supply.away:
                return _reason(f"{why}; {supply.away}", _AWAY_HINT)
            return _reason(why, "ask for less bandwidth")
        fits = wanted.fits_in(self._free + self._booked.get(execution.id, Rates()))
        fits = fits or self._fits_beside_bookings(execution, wanted, supply)
        if fits and (execution.id in self._booked or self._may_pass_first(execution, wanted)):
            return None
        if self._first is None:
            self._reserve(execution, wanted)
        if fits:
            return _reason("another execution has waited longer for the free bandwidth")
        free = f"{_shortage_text(wanted, self._free)} free{_others_text(wanted, supply)}"
        return _reason(f"{free}{_time_text(self._available_s(wanted), self._now_s)}")

    def _fits_beside_bookings(self, execution: Execution, wanted: Rates, supply: BandwidthSupply) -> bool:
        """Return whether there is enough until its end without bookings, but not with later ones."""
        if not self._readings or not Rates(write=wanted.write).fits_in(self._free):
            return False
        own = [reading for reading in self._readings if booked_for(reading.execution_id) == execution.id]
        if own and execution.promise is not None:
            turn = min(map(_turn, own))
            others = [reading for reading in self._readings if booked_for(reading.execution_id) != execution.id]
            # A booking that is late itself, and comes after this execution, must wait for it.
            others = [other for other in others if other.begins_s > self._now_s or _turn(other) < turn]
            ends_s = max(self._now_s + execution.promise.terms.run_s, *(booking.ends_s for booking in own))
            held = most_held(
                [*self._held, *(other.bandwidth_span(self._now_s) for other in others)], self._now_s, ends_s
            )
        else:
            ends_s = pessimistic_end(self._now_s, self._now_s + self._estimates.run_s(execution))
            if self._table is None:
                booked = (reading.bandwidth_span(self._now_s) for reading in self._readings)
                self._table = BookingSpans([*self._held, *booked], self._now_s)
            held = self._table.most_before(ends_s)
        return held + self._taken + wanted.read <= supply.rates.read

    def _hold(self, execution: Execution, ends_s: float) -> None:
        wanted = required_rates(execution.application)
        if wanted is not None and wanted.read:
            # An execution that should have ended holds its bandwidth until its end.
            self._held.append((self._now_s, max(ends_s, self._now_s + _HOLDS_S), wanted.read))

    def _limit_refusal(
        self, execution: Execution, wanted: Rates, supply: BandwidthSupply, may_start: MayStart
    ) -> Reason | None:
        ends_s = self._now_s + self._estimates.guess_s(execution)

        def ever(one: Execution) -> bool:
            return wanted.fits_in(supply.rates) and may_start(one)

        return self._of_tenants.refusal(execution, wanted, self._asked[execution.id], ends_s, ever)

    def _add(self, execution: Execution, ends_s: float, release_s: float) -> None:
        """Add a guarantee; `release_s` is estimated if unknown."""
        wanted = required_rates(execution.application)
        if wanted is not None:
            self._free -= wanted
            self._of_tenants.take(execution.tenant, wanted, release_s)
            self._ends.append((ends_s, wanted))

    def _may_pass_first(self, execution: Execution, wanted: Rates) -> bool:
        if self._first is None or self._asked[execution.id] <= self._asked[self._first]:
            return True
        ends_s = self._now_s + self._estimates.run_s(execution)
        return ends_s <= self._first_starts_s < math.inf or wanted.fits_in(self._beside_first)

    def _reserve(self, execution: Execution, wanted: Rates) -> None:
        self._first = execution.id
        self._first_starts_s = self._available_s(wanted)
        if self._first_starts_s < math.inf:
            self._beside_first = self._free_at(self._first_starts_s) - wanted

    def _available_s(self, wanted: Rates) -> float:
        """Return when this much is expected to be free; infinite if no running execution has a known end."""
        ends = sorted({ends_s for ends_s, _ in self._ends if ends_s < math.inf})
        return next((at_s for at_s in ends if wanted.fits_in(self._free_at(at_s))), math.inf)

    def _free_at(self, at_s: float) -> Rates:
        free = self._free
        for ends_s, rates in self._ends:
            if ends_s <= at_s:
                free += rates
        return free


def _booked_bandwidth(bookings: Iterable[Booking]) -> dict[ExecutionId, Rates]:
    """Return the bandwidth to read that is booked for each execution; of its offers, the largest."""
    kept: dict[ExecutionId, Rates] = {}
    for booking in bookings:
        if booking.read_bytes_per_s:
            name = booked_for(booking.execution_id)
            kept[name] = Rates(max(kept.get(name, Rates()).read, booking.read_bytes_per_s))
    return kept


def _turn(booking: Booking) -> tuple[float, ExecutionId]:
    """Return a sort key: the earliest begin first. Late bookings need an order: if each kept its bandwidth from all
    others, none would ever begin.
    """
    return booking.begins_s, booking.execution_id


def _reason(why: str, hint: str = _HINT) -> Reason:
    return Reason(ReasonCode.STORAGE_BANDWIDTH, f"Waiting for storage bandwidth: {why}.", hint=hint)


def _shortage_text(wanted: Rates, room: Rates) -> str:
    """Return the direction with too little bandwidth, and its available amount."""
    short = [(wanted.read, room.read, "read"), (wanted.write, room.write, "write")]
    need, there, what = next(item for item in short if item[0] > max(item[1], 0) or item is short[-1])
    return f"needs {_mb(need)} MB/s to {what}, {_mb(max(there, 0))}"


def _others_text(wanted: Rates, supply: BandwidthSupply) -> str:
    """Return the bandwidth held by policies and other tenants as text; empty if they hold none."""
    ways = ((wanted.read, supply.others.read, "read"), (wanted.write, supply.others.write, "write"))
    held = [f"{_mb(others)} MB/s to {what}" for more, others, what in ways if more and others > 0]
    return f" (standing SLOs, rules and other clients hold {' and '.join(held)})" if held else ""


def _mb(rate: int) -> str:
    return plain(rate / _MB)


def _time_text(at_s: float, now_s: float) -> str:
    """Return the time of day in UTC; empty if it is unknown or due now."""
    if at_s == math.inf or at_s <= now_s:
        return ""
    rounded = math.ceil(at_s / _STEP_S) * _STEP_S
    clock = f"{int(rounded % _DAY_S) // _HOUR_S:02}:{int(rounded % _HOUR_S) // _MINUTE_S:02} UTC"
    return f" until about {clock}" + (" of another day" if rounded - now_s >= _DAY_S else "")
