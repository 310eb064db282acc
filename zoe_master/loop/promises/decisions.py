"""Decide promises from a tick's snapshot, beside the loop, which checks each answer before it journals it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Protocol

from zoe_client.vocabulary import PromiseRisk
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.cluster.policy import Policy, limits_of
from zoe_lib.domain.executions.execution import Execution, ExecutionId, ExecutionState, Mark
from zoe_lib.domain.executions.guaranteed import as_guaranteed, guaranteed_counts
from zoe_lib.domain.executions.promises import pushed_down, without_views
from zoe_lib.domain.lifecycle.lifecycle import with_bandwidth
from zoe_lib.domain.values.finish_times import Promise, PromiseNotice, PromiseOffers
from zoe_lib.domain.values.frozen import changed, value
from zoe_lib.domain.values.progress import ExecutionProgress, remaining_s
from zoe_lib.domain.values.resources import total
from zoe_lib.run_times.samples import through_views, with_elastic
from zoe_lib.run_times.spread import CHANCES
from zoe_master.loop.promises.adjustments import PromiseAdjustments
from zoe_master.loop.tick import Tick
from zoe_master.scheduler.booking.bookings import Booking, offer_name
from zoe_master.scheduler.placement.budget import GiveUp, OutOfBudget, never
from zoe_master.scheduler.promising.choices import (
    ChoiceRunTime,
    PromiseChoice,
    PromisePrice,
    numbers_of,
    rates_of,
    total_s,
)
from zoe_master.scheduler.promising.choosing import PromiseAnswer, PromiseSearch
from zoe_master.scheduler.promising.future import FutureNodes, lasting
from zoe_master.scheduler.promising.lateness import median_beyond
from zoe_master.scheduler.promising.wholes import answer_group, groups_to_promise, in_order, limits_of_neighbours
from zoe_master.state.run_times import LearnedRunTimes

DECISIONS_MAX = 50
"""Maximum decisions on one tick; later ones use a newer tick."""
OFFERED_MAX = 3
"""Maximum executions of one user with room reserved for offers; requests beyond it cost nothing."""
_ENOUGH = f"No offers: {OFFERED_MAX} of your executions have some already"
_TOO_LARGE = "Looking for room takes longer than a decision may take"
_NO_RATE = "It reads from the object store, which has no bandwidth to guarantee"
_TYPICAL = 0.5
_SLOW, _READERS = 1_000_000, 64
"""Bytes per second left to a run without a guarantee, or in addition to its share of the store."""
_SOONER = 0.98  # a rate that saves less is not worth a guarantee
_SOON_S = 5.0  # a later begin than this breaks a promise


class PromisePrices(Protocol):
    """Prices of applications."""

    def price(self, application: Application, tenant: str, user: str, run_s: float, at_s: float) -> PromisePrice:
        """Return the price of an application if all its services run for that time, with the prices at `at_s`."""
        ...


@value(frozen=True, slots=True)
class PromiseDecision:
    """The decision for an execution at this version: an answer, room for its promise, a notice of risk, or new
    guarantees of elastic services and a rate to read (no rate: the rate of its promise). together: decisions that are
    valid with it, or not at all.
    """

    execution: Execution
    answer: PromiseAnswer | None = None
    booking: Booking | None = None
    notice: PromiseNotice | None = None
    elastic: int | None = None
    read_bytes_per_s: int | None = None
    together: tuple[PromiseDecision, ...] = ()


class PromiseDecisions:
    """Makes decisions; it has no state, so any thread may use one."""

    def __init__(self, run_times: LearnedRunTimes, prices: PromisePrices) -> None:
        self._run_times = run_times
        self._prices = prices

    def decide_on(
        self,
        tick: Tick,
        give_up: GiveUp = never,
        progress: Mapping[ExecutionId, ExecutionProgress] = MappingProxyType({}),
    ) -> list[PromiseDecision]:
        """Return the pending decisions, the oldest promises first; `progress`: known progress of executions."""
        made = [PromiseDecision(execution, notice=notice) for execution, notice in self._risks(tick, progress)]
        made += [
            PromiseDecision(item.execution, elastic=item.elastic, read_bytes_per_s=item.read_bytes_per_s)
            for item in PromiseAdjustments(self._run_times, self.expected_end_s).adjust_on(tick, progress)
        ]
        now_s = tick.snapshot.now_s
        ready = [
            [execution]
            for execution in tick.asking
            if not execution.conditions.whole and execution.conditions.met_but_for_time
        ]
        ready += groups_to_promise(tick.asking, tick.promised, now_s)
        ready = [members for members in ready if not _awaits_supply(members, tick)]
        if not tick.unplaced and not ready:
            return made
        later = FutureNodes(tick.snapshot, tick.policy, give_up)
        for execution in tick.unplaced[:DECISIONS_MAX]:
            try:
                booking = _missing_room(execution, later)
            except OutOfBudget:
                return made  # the next tick continues with the others
            if booking is not None:
                later.with_bookings([booking])
                made.append(PromiseDecision(execution, booking=booking))
            elif execution.promise is not None and execution.promise.notice is None:
                end_s = self.expected_end_s(execution, _begins_s(execution, now_s))
                made.append(PromiseDecision(execution, notice=_notice(execution, PromiseRisk.NO_ROOM, end_s, now_s)))
        open_offers = Counter(tick.offered)
        for number, members in enumerate(ready[:DECISIONS_MAX]):
            owner = members[0].tenant, members[0].user
            makes_offers = open_offers[owner] < OFFERED_MAX
            try:
                found = self._answers(members, tick, later, makes_offers)
            except OutOfBudget:
                if number:
                    break  # the others are decided on the next tick
                found = [PromiseAnswer(offers=PromiseOffers(_TOO_LARGE, now_s)) for _ in members]
            offers = found[0].offers
            if offers is not None and offers.offers:
                open_offers[owner] += 1
            elif offers is not None and not makes_offers:
                found = [PromiseAnswer(offers=PromiseOffers(f"{offers.why}. {_ENOUGH}", now_s)) for _ in members]
            for answer in found:
                later.with_bookings(answer.bookings)
            first, *others = (
                PromiseDecision(execution, answer=each) for execution, each in zip(members, found, strict=True)
            )
            made.append(replace(first, together=tuple(others)))
        return made

    def decide_new(self, tick: Tick, execution: Execution, give_up: GiveUp = never) -> PromiseAnswer:
        """Return the decision for this execution if it were submitted now; OutOfBudget."""
        [found] = self.decide_new_group(tick, [execution], give_up)
        return found

    def decide_new_group(
        self, tick: Tick, members: Sequence[Execution], give_up: GiveUp = never
    ) -> list[PromiseAnswer]:
        """Return the same for each member of a group with a common promise, in this order; OutOfBudget."""
        later = FutureNodes(tick.snapshot, tick.policy, give_up)
        ordered = in_order(members)
        answers = self._answers(ordered, tick, later, makes_offers=True)
        found = {execution.id: answer for execution, answer in zip(ordered, answers, strict=True)}
        return [found[member.id] for member in members]

    def _answers(
        self, members: Sequence[Execution], tick: Tick, later: FutureNodes, makes_offers: bool
    ) -> list[PromiseAnswer]:
        """Return the answer for each; those of a group in this order."""
        # Members of a group may read at the same time.
        readers = sum(_has_inputs(member.application) for member in members)
        most, free = later.shares.read_rate, later.shares.free_rate()
        rates = rates_of(most, *(rate // max(readers, 1) for rate in (most, free)))
        offers_end_s = later.now_s + tick.policy.promise_offer_s if makes_offers else None
        searches = [self._search(member, later, tick.policy, rates, offers_end_s) for member in members]
        if not members[0].conditions.whole:
            return [search.answer() for search in searches]
        found = answer_group(searches, limits_of_neighbours(members, tick.promised), later, offers_end_s)
        return [found[member.id] for member in members]

    def _search(
        self, execution: Execution, later: FutureNodes, policy: Policy, rates: Sequence[int], offers_end_s: float | None
    ) -> PromiseSearch:
        application, tenant, user = execution.application, execution.tenant, execution.user

        def run_time(choice: PromiseChoice, chance: float) -> ChoiceRunTime | None:
            rate = choice.read_bytes_per_s
            known = self._run_times.run_time_within(
                application, tenant, user, choice.elastic, chance, rate, choice.views
            )
            return None if known is None else ChoiceRunTime(known.seconds, known.samples, known.wide)

        def price(choice: PromiseChoice, run_s: float) -> PromisePrice:
            read = without_views(application) if choice.views is False else application
            given = with_bandwidth(with_elastic(read, choice.elastic), choice.read_bytes_per_s)
            begins_s = max((execution.deadline_s or 0.0) - run_s, later.now_s)
            return self._prices.price(given, tenant, user, run_s, begins_s)

        choices = [
            PromiseChoice(number, views=views)
            for number in numbers_of(application)
            if _within_limits(execution, number, policy)
            for views in self._ways_to_read(execution)
        ]
        no_choice = ""
        if _has_inputs(application):
            most = later.shares.read_rate
            extremes = (min(_SLOW, max(most // _READERS, 1)), most) if most else ()
            rated = [held for choice in choices for held in _with_rates(choice, rates, extremes, run_time)]
            choices, no_choice = rated, _NO_RATE if choices else ""
        return PromiseSearch(execution, choices, run_time, price, later, offers_end_s, no_choice)

    def _ways_to_read(self, execution: Execution) -> Sequence[bool | None]:
        """Return the ways to read its inputs with a pushdown that have a known duration. An input read plainly so far
        may still use a view that turns out to help.
        """
        if not pushed_down(execution.application):
            return (None,)
        known = self._run_times.ways_to_read(execution.application, execution.tenant, execution.user)
        return sorted(known) if True in known else (None,)

    def _risks(
        self, tick: Tick, progress: Mapping[ExecutionId, ExecutionProgress]
    ) -> Iterator[tuple[Execution, PromiseNotice]]:
        """Yield promises newly expected to be broken."""
        snapshot = tick.snapshot
        begins = {
            booking.execution_id: max(booking.begins_s, snapshot.now_s)
            for booking in snapshot.bookings
            if booking.places
        }
        for execution in tick.promised:
            promise = execution.promise
            if promise is None or promise.notice is not None or execution.state is ExecutionState.STOPPING:
                continue
            begins_s = snapshot.now_s
            if Mark.PLACED not in execution.marks:  # its room is booked until its services run
                begins_s = _begins_s(execution, begins.get(execution.id, begins_s))
            end_s = self.expected_end_s(execution, begins_s, progress.get(execution.id))
            if end_s > promise.terms.finish_s:
                yield execution, _notice(execution, _risk_of(execution), end_s, snapshot.now_s)

    def expected_end_s(self, execution: Execution, now_s: float, progress: ExecutionProgress | None = None) -> float:
        """Return the median end of promised executions with the same progress: from its own reports, else from the run
        times of its kind. now_s: for a waiting one, the time of its placement.
        """
        assert execution.promise is not None
        if progress is not None and progress.attempt == execution.attempt:
            left = remaining_s(progress.readings, now_s)
            if left is not None:
                return now_s + left.seconds
        terms, application = execution.promise.terms, execution.application
        tenant, user, within = execution.tenant, execution.user, self._run_times.run_time_within
        views = through_views(execution) if execution.inputs else terms.views
        takes = [
            (chance, known.seconds)
            for chance in CHANCES
            if (known := within(application, tenant, user, terms.elastic, chance, views=views))
        ]
        if not takes:
            takes = [(0.5, execution.promise.terms.run_s)]
        placed_s = execution.marks.get(Mark.PLACED)
        if placed_s is None:
            return now_s + takes[0][1]
        return placed_s + median_beyond(takes, now_s - placed_s)


def _awaits_supply(members: Sequence[Execution], tick: Tick) -> bool:
    """Return whether some read from the object store while its capacity is unknown, which is temporary."""
    storage = tick.snapshot.storage
    if storage is None or not storage.problem:
        return False
    since_s = tick.snapshot.now_s - tick.policy.storage_patience_s
    return any(member.submitted_at_s > since_s and _has_inputs(member.application) for member in members)


def _has_inputs(application: Application) -> bool:
    return application.storage is not None and bool(application.storage.inputs)


def _within_limits(execution: Execution, elastic: int, policy: Policy) -> bool:
    """Return whether the limits of its tenant and user ever allow so many of its services at once."""
    counts, application = guaranteed_counts(execution.application, elastic), execution.application
    wanted = total(component.reservation * counts[component.name] for component in application.components)
    for _, limit in limits_of(policy, execution.tenant, execution.user):
        if limit.cores_milli is not None and wanted.cores_milli > limit.cores_milli:
            return False
        if limit.memory_bytes is not None and wanted.memory_bytes > limit.memory_bytes:
            return False
    return True


def _with_rates(
    choice: PromiseChoice,
    rates: Sequence[int],
    extremes: Sequence[int],
    run_time: Callable[[PromiseChoice, float], ChoiceRunTime | None],
) -> list[PromiseChoice]:
    """Return the choice with each of these rates, or without one if it reads hardly anything.

    Otherwise the run needs a rate: bandwidth beyond guarantees is lent, and the next promise may take it. extremes: the
    least and the highest rate of the store.
    """
    runs = [run_time(replace(choice, read_bytes_per_s=rate), _TYPICAL) for rate in extremes]
    took = [run.seconds for run in (run_time(choice, _TYPICAL), *runs) if run is not None]
    if len(took) <= 1 or min(took) >= _SOONER * max(took):
        return [choice]
    return [replace(choice, read_bytes_per_s=rate) for rate in rates]


def offer_rooms(offers: Iterable[tuple[Execution, int]], later: FutureNodes) -> Iterator[Booking]:
    """Yield room for offers that have none, because another master made them; by execution and number."""
    for execution, number in offers:
        terms = execution.offers.terms(number, later.now_s) if execution.offers is not None else None
        if execution.offers is not None and terms is not None:
            promised = changed(execution, promise=Promise(terms, later.now_s))
            booking = _missing_room(promised, later)
            if booking is not None and booking.ends_s <= terms.finish_s:
                name, whole = offer_name(execution.id, number), execution.conditions.whole
                late_s = math.ceil(max(execution.offers.ends_of(number) - booking.begins_s, 0.0))
                longer = lasting(booking, later.movable_s([(as_guaranteed(promised), booking)], late_s))
                yield changed(longer, execution_id=name, whole=whole)


def promise_rooms(promised: Iterable[Execution], later: FutureNodes) -> Iterator[Booking]:
    """Yield room for waiting promised executions that have none."""
    for execution in promised:
        booking = _missing_room(execution, later)
        if booking is not None:
            yield booking


def _missing_room(execution: Execution, later: FutureNodes) -> Booking | None:
    """Return room for a promise that has none, because a node was lost or another master made it."""
    assert execution.promise is not None
    terms = execution.promise.terms
    wanted = as_guaranteed(execution)
    took_s, from_s = total_s(terms.run_s), _begins_s(execution, later.now_s)
    booking = later.latest(wanted, max(terms.finish_s - took_s, from_s), took_s, from_s)
    if booking is None:
        booking = later.earliest(wanted, took_s, from_s)
    return None if booking is None else replace(booking, read_bytes_per_s=terms.read_bytes_per_s or 0)


def _begins_s(execution: Execution, at_s: float) -> float:
    """Return the earliest begin of a waiting execution, at this time or later."""
    return max(at_s, execution.not_before_s, execution.conditions.begins_s)


def _notice(execution: Execution, risk: PromiseRisk, end_s: float, now_s: float) -> PromiseNotice:
    """Return the notice if the end is later than promised also in full seconds, as users see it."""
    assert execution.promise is not None
    return PromiseNotice(risk, max(end_s, math.floor(execution.promise.terms.finish_s) + 1.0), now_s)


def _risk_of(execution: Execution) -> PromiseRisk:
    if execution.state is ExecutionState.SUBMITTED:
        if execution.conditions.held is not None:
            return PromiseRisk.HELD
        if not execution.conditions.are_met(math.inf):
            return PromiseRisk.INPUT_LATE
    if execution.attempt > 1:
        return PromiseRisk.FAILED
    assert execution.promise is not None
    placed_s = execution.marks.get(Mark.PLACED, math.inf)
    return PromiseRisk.NO_ROOM if placed_s > execution.promise.terms.begin_by_s + _SOON_S else PromiseRisk.SLOWER
