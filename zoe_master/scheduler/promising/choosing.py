"""Choose the cheapest guarantees with which an execution ends by a time, or offers if there are none. Pure.

The search is small: numbers of elastic services (none, 1, 2, 4, ... all) times rates of the object store (as requested,
and fractions of the capacity for guarantees) times views or none, each at a bounded number of begins.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from decimal import ROUND_CEILING, Decimal

from zoe_client.vocabulary import OfferKind
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.guaranteed import as_guaranteed
from zoe_lib.domain.values.finish_times import CONFIDENCE_LEAST, FinishTerms, Offer, Promise, PromiseOffers, PromiseWish
from zoe_lib.domain.values.frozen import changed, value
from zoe_lib.pricing.displayed_prices import displayed_price
from zoe_master.scheduler.booking.bookings import Booking, offer_name
from zoe_master.scheduler.promising.choices import (
    ChoiceRunTime,
    PriceOf,
    PromiseChoice,
    PromiseCost,
    PromisePrice,
    RunTimeOf,
    by_price,
    least_rate_first,
    start_s,
    total_s,
)
from zoe_master.scheduler.promising.future import FutureNodes
from zoe_master.scheduler.promising.movable import ANSWER_S, MOVING, PromiseRoom

OFFERS_MAX = 3
LESS_SURE = (0.95, 0.9, 0.8, 0.7, 0.6, CONFIDENCE_LEAST)
NOT_KNOWN = "Its run time is not known: this program has not run here before; give its expected run time"


@value(frozen=True, slots=True)
class PromiseAnswer:
    """Either `terms`, which are promised, or `offers`. bookings: the room for the terms, or for each offer in turn."""

    terms: FinishTerms | None = None
    offers: PromiseOffers | None = None
    bookings: tuple[Booking, ...] = ()


_Found = tuple[FinishTerms, Booking]
"""Terms, and the room for them."""


class PromiseSearch:
    """The search for guarantees of one execution. offers_end_s: the end of offers; None: make none. no_choice: why
    there are no choices, apart from limits.
    """

    def __init__(
        self,
        execution: Execution,
        choices: Sequence[PromiseChoice],
        run_time: RunTimeOf,
        price: PriceOf,
        later: FutureNodes,
        offers_end_s: float | None,
        no_choice: str = "",
    ) -> None:
        assert execution.deadline_s is not None
        self.execution = execution
        self._asked_s = execution.deadline_s
        self.wish = execution.application.promise or PromiseWish()
        self._choices = choices
        self._no_choice = no_choice
        self._run_time = run_time
        self._price = price
        self._later = later
        self.begins_s = max(later.now_s, execution.conditions.begins_s)
        """Earliest begin."""
        self._offers_end_s = later.now_s if offers_end_s is None else offers_end_s
        self._makes_offers = offers_end_s is not None
        self.budget = None if self.wish.budget is None else Decimal(self.wish.budget)

    def answer(self) -> PromiseAnswer:
        """Return the cheapest terms that meet its deadline, else up to three offers. Raises OutOfBudget."""
        refusal = self.refusal(self.wish.confidence)
        if refusal:
            return self._no_terms(refusal)
        allowed = self.allowed_choices(self.wish.confidence)
        affordable = [cost for cost in allowed if self._affordable(cost)]
        found = self._in_time(affordable, self.wish.confidence)
        soonest = None if found is not None else self._soonest(affordable)
        if soonest is not None and soonest[1].ends_s <= self._asked_s:  # not among the begins tried for the time
            found = changed(soonest[0], finish_s=self._asked_s), soonest[1]
        if found is not None:
            return PromiseAnswer(terms=found[0], bookings=(found[1],))
        return self._counter(allowed, affordable, soonest)

    def _no_terms(self, why: str) -> PromiseAnswer:
        return PromiseAnswer(offers=PromiseOffers(why, self._later.now_s))

    def refusal(self, confidence: float) -> str:
        """Return why there is no choice at all, for any time; empty if there are some."""
        if not self._choices:
            return self._no_choice or "It needs more than the limits of its tenant or user allow"
        costed = self.costed_choices(confidence)
        if not costed:
            return NOT_KNOWN
        if not any(map(self._within_time_limit, costed)):
            return "It takes longer than its time limit"
        return (
            ""
            if self.allowed_choices(confidence)
            else "It needs more of the cluster than promises may hold by the policy"
        )

    def allowed_choices(self, confidence: float) -> list[PromiseCost]:
        """Return the choices within its time limit and the share of promises, as `costed_choices`."""
        costed = filter(self._within_time_limit, self.costed_choices(confidence))
        return [entry for entry in costed if self._within_share(entry.choice)]

    def costed_choices(self, confidence: float) -> list[PromiseCost]:
        """Return the choices with run times and prices, the cheapest first, and the quickest of equal ones."""
        found = []
        for choice in self._choices:
            run = self._run_time(choice, confidence)
            if run is not None:
                found.append(PromiseCost(choice, run, self._price(choice, run.seconds)))
        return sorted(found, key=by_price)

    def _affordable(self, one: PromiseCost) -> bool:
        return self.budget is None or (one.price is not None and one.price.amount <= self.budget)

    def _within_time_limit(self, one: PromiseCost) -> bool:
        return one.run.seconds <= (self.execution.application.time_limit_s or math.inf)

    def _within_share(self, choice: PromiseChoice) -> bool:
        wanted = self.under_terms(
            self._terms(PromiseCost(choice, ChoiceRunTime(1.0, 0, wide=True), None), 0.5, 0.0, 0.0)
        )
        return wanted.application.core_resources().cores_milli <= self._later.share_milli

    def _in_time(self, costed: Iterable[PromiseCost], confidence: float, not_before_s: float = 0.0) -> _Found | None:
        """Return the first choice that ends by the requested time, and begins no earlier than this one."""
        for entry in least_rate_first(costed):
            found = self.latest(entry, confidence, self._asked_s, not_before_s)
            if found is not None:
                return found
        return None

    def latest(self, one: PromiseCost, confidence: float, finish_s: float, not_before_s: float = 0.0) -> _Found | None:
        """Return terms and room with which it ends by this time, and begins as late as possible, but no earlier than
        allowed.
        """
        begin_by_s, from_s = finish_s - total_s(one.run.seconds), max(self.begins_s, not_before_s)
        if begin_by_s < from_s:
            return None
        terms = self._terms(one, confidence, finish_s, begin_by_s)
        booking = self._later.latest(self.under_terms(terms), begin_by_s, total_s(one.run.seconds), from_s)
        if booking is None:
            return None
        return changed(terms, begin_by_s=booking.begins_s), self._with_rate(booking, one.choice)

    def earliest(self, one: PromiseCost, confidence: float, from_s: float) -> _Found | None:
        """Return terms and room with which it ends as early as possible, if it begins no earlier than allowed. The
        promised end is a full second.
        """
        terms = self._terms(one, confidence, 0.0, 0.0)
        booking = self._later.earliest(self.under_terms(terms), total_s(one.run.seconds), max(self.begins_s, from_s))
        if booking is None:
            return None
        terms = changed(terms, finish_s=float(math.ceil(booking.ends_s)), begin_by_s=booking.begins_s)
        return terms, self._with_rate(booking, one.choice)

    def _soonest(self, costed: Sequence[PromiseCost], not_before_s: float = 0.0) -> _Found | None:
        """Return the earliest end of all choices that begin no earlier than this."""
        best: _Found | None = None
        for entry in sorted(costed, key=lambda entry: entry.run.seconds):
            takes_s = total_s(entry.run.seconds)
            if best is not None and max(self.begins_s, not_before_s) + takes_s >= best[0].finish_s:
                break
            found = self.earliest(entry, self.wish.confidence, not_before_s)
            if found is not None and (best is None or found[0].finish_s < best[0].finish_s):
                best = found
        return best

    def _counter(
        self, allowed: Sequence[PromiseCost], affordable: Sequence[PromiseCost], soonest: _Found | None
    ) -> PromiseAnswer:
        made: list[tuple[Offer, Booking]] = []
        for kind, found in self._candidates(allowed, affordable, soonest) if self._makes_offers else ():
            if found is not None and _adds(kind, found[0], [offer.terms for offer, _ in made]):
                made.append(self._offer(kind, found))
            if len(made) == OFFERS_MAX:
                break
        why = self._refusal_sentence(allowed, affordable, [offer.kind for offer, _ in made])
        if not made:
            return self._no_terms(why)
        ends_s = max(offer.ends_s or 0.0 for offer, _ in made)
        bookings = [
            changed(booking, execution_id=offer_name(self.execution.id, number))
            for number, (_, booking) in enumerate(made, start=1)
        ]
        offers = PromiseOffers(why, ends_s, tuple(offer for offer, _ in made))
        return PromiseAnswer(offers=offers, bookings=tuple(bookings))

    def _offer(self, kind: OfferKind, found: _Found) -> tuple[Offer, Booking]:
        """Return an offer with its room, which lasts for a later acceptance where there is more."""
        terms, booking = found
        room = PromiseRoom([(self.under_terms(terms), booking)], self._later, self._offers_end_s, kind in MOVING)
        return Offer(kind, terms, room.moves_from_s, room.ends_s), room.bookings[0]

    def _candidates(
        self, allowed: Sequence[PromiseCost], affordable: Sequence[PromiseCost], soonest: _Found | None
    ) -> Iterator[tuple[OfferKind, _Found | None]]:
        """Yield the offers; those in time leave a user some seconds to answer."""
        confidence = self.wish.confidence
        answered_s = min(self._later.now_s + ANSWER_S, self._offers_end_s)
        if affordable:
            yield OfferKind.EARLIEST, soonest
        if len(affordable) < len(allowed):
            dearer = (entry for entry in allowed if entry not in affordable)
            yield OfferKind.DEARER, self._in_time(dearer, confidence, answered_s)
        if not affordable:  # the time without the budget
            yield OfferKind.EARLIEST, (soonest := self._soonest(allowed))
        if soonest is not None and self._offer(OfferKind.EARLIEST, soonest)[0].ends_s != self._offers_end_s:
            yield OfferKind.EARLIEST, self._soonest(affordable or allowed, self._offers_end_s)
        yield OfferKind.LESS_SURE, self._less_sure(answered_s)
        yield OfferKind.CHEAPEST, self._soonest((affordable or allowed)[:1])

    def _less_sure(self, answered_s: float) -> _Found | None:
        for confidence in LESS_SURE:
            if confidence < self.wish.confidence:
                costed = (choice for choice in self.costed_choices(confidence) if self._affordable(choice))
                costed = (entry for entry in costed if self._within_time_limit(entry))
                found = self._in_time(
                    (entry for entry in costed if self._within_share(entry.choice)), confidence, answered_s
                )
                if found is not None:
                    return found
        return None

    def _refusal_sentence(
        self,
        allowed: Sequence[PromiseCost],
        affordable: Sequence[PromiseCost],
        offered: Sequence[OfferKind],
    ) -> str:
        if not affordable:
            return beyond_budget(self.budget, [allowed[0].price])
        if OfferKind.DEARER in offered:
            return "Guarantees with which it would end in time cost more than its budget"
        quickest = min(allowed, key=lambda entry: entry.run.seconds)
        if self.begins_s + total_s(quickest.run.seconds) > self._asked_s:
            run_s = quickest.run.seconds
            return (
                f"It takes {run_s:.0f} s with {self.wish.confidence:.0%} confidence and {quickest.choice.elastic} "
                f"elastic services, and up to {start_s(run_s):.0f} s to begin, which exceeds the time left"
            )
        return "There is no room for it in time"

    def _terms(self, one: PromiseCost, confidence: float, finish_s: float, begin_by_s: float) -> FinishTerms:
        return FinishTerms(
            finish_s=finish_s,
            confidence=confidence,
            elastic=one.choice.elastic,
            run_s=one.run.seconds,
            begin_by_s=begin_by_s,
            read_bytes_per_s=one.choice.read_bytes_per_s,
            views=one.choice.views,
            price=None if one.price is None else f"{displayed_price(one.price.amount):f}",
            currency="" if one.price is None else one.price.currency,
            runs=one.run.runs,
            wide=one.run.wide,
        )

    def under_terms(self, terms: FinishTerms) -> Execution:
        """Return the execution as it would be placed under these terms."""
        promised = changed(self.execution, promise=Promise(terms, self._later.now_s))
        return as_guaranteed(promised)

    @staticmethod
    def _with_rate(booking: Booking, choice: PromiseChoice) -> Booking:
        return changed(booking, read_bytes_per_s=choice.read_bytes_per_s or 0)


def beyond_budget(budget: Decimal | None, least: Sequence[PromisePrice | None]) -> str:
    """Return that every choice exceeds the budget, and the lowest price; `least`: the lowest price of each."""
    known = [entry for entry in least if entry is not None]
    if len(known) < len(least) or not known:
        return "It has a budget, and its price is unknown"
    amount = displayed_price(sum((entry.amount for entry in known), Decimal(0)), ROUND_CEILING)
    currency = known[0].currency
    return f"It costs at least {amount:f} {currency}, which is more than its budget of {budget:f} {currency}"


def _adds(kind: OfferKind, terms: FinishTerms, known: Sequence[FinishTerms]) -> bool:
    """Return whether an offer differs from the earlier ones, and the cheapest costs less than they do."""
    if kind is OfferKind.CHEAPEST and terms.price is not None:
        return all(entry.price is None or Decimal(terms.price) < Decimal(entry.price) for entry in known)
    return terms not in known
