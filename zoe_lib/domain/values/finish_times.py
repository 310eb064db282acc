"""Promises that an execution ends by a time, with a stated confidence, and offers of such promises."""

from __future__ import annotations

import math
from decimal import Decimal

from zoe_client.vocabulary import OfferKind, PromiseRisk
from zoe_lib.domain.values.frozen import changed, value

CONFIDENCE = 0.9
"""Default confidence of a promise."""
CONFIDENCE_LEAST, CONFIDENCE_MOST = 0.5, 0.99
MEMBERS_MAX = 100
"""Maximum steps of a joint promise."""
INDICES_PROMISED_MAX = 500
"""Maximum indices of an array's joint promise: equal ones are decided faster than steps."""


@value(frozen=True, slots=True)
class PromiseWish:
    """A user's request for a promise; its time is the deadline.
    confidence: required probability, from 0.5 to 0.99. budget: maximum cost, as a decimal number in the currency of the
    price list, or in core-hours without one; None: any price.
    """

    confidence: float = CONFIDENCE
    budget: str | None = None


def budget_text(budget: float | None) -> str | None:
    """Return a budget in the form of a request: all digits, without an exponent."""
    return None if budget is None else f"{Decimal(str(budget)):f}"


@value(frozen=True, slots=True)
class FinishTerms:
    """Terms of a promise: the end of an execution, and the guaranteed resources.
    finish_s: seconds since the epoch. elastic: number of guaranteed elastic services, in start-up order. run_s: seconds
    from its placement within which it ends, with this confidence. begin_by_s: latest time of its placement.
    read_bytes_per_s: read bandwidth of the object store; None: none beyond its own requirement. price: cost if it runs
    for `run_s`, as a decimal number; None: unknown. runs: number of similar ended runs behind the estimate; 0: its
    declared run time. wide: these are few, or had other numbers of cores. views: whether its inputs with a pushdown are
    read through views; None: decided at its start.
    """

    finish_s: float
    confidence: float
    elastic: int
    run_s: float
    begin_by_s: float
    read_bytes_per_s: int | None = None
    price: str | None = None
    currency: str = ""
    runs: int = 0
    wide: bool = False
    views: bool | None = None


@value(frozen=True, slots=True)
class PromiseNotice:
    """A promise that is expected to be broken: the cause, the expected end, and the time of the notice; seconds since
    the epoch.
    """

    risk: PromiseRisk
    end_s: float
    at_s: float


@value(frozen=True, slots=True)
class PromiseAdjustment:
    """Guarantees of an attempt since `at_s`, in place of the terms: elastic services, and bytes per second to read
    (None: those of the terms).
    """

    elastic: int
    attempt: int
    at_s: float
    read_bytes_per_s: int | None = None


@value(frozen=True, slots=True)
class Promise:
    """Terms in force since `at_s`. offer: the number of the accepted offer; 0: as requested.
    notice: that they are expected to be broken, recorded once. adjusted: the newest adjustment to progress.
    """

    terms: FinishTerms
    at_s: float
    offer: int = 0
    notice: PromiseNotice | None = None
    adjusted: PromiseAdjustment | None = None

    def elastic_guarantee(self, attempt: int) -> int:
        """Return how many elastic services are guaranteed to an attempt at present."""
        adjusted = self.adjusted
        return adjusted.elastic if adjusted is not None and adjusted.attempt == attempt else self.terms.elastic

    def rate(self, attempt: int) -> int | None:
        """Return how many bytes per second to read are guaranteed to an attempt at present; None: none."""
        adjusted = self.adjusted
        of_now = adjusted is not None and adjusted.attempt == attempt and adjusted.read_bytes_per_s
        return of_now or self.terms.read_bytes_per_s


@value(frozen=True, slots=True)
class Offer:
    """Alternative terms; kind: their difference from the request.
    moves_from_s: accepted later than this, all times of the terms are later by as much; None: they stay. ends_s: until
    when it can be accepted; None: as long as the others. Both in seconds since the epoch.
    """

    kind: OfferKind
    terms: FinishTerms
    moves_from_s: float | None = None
    ends_s: float | None = None

    @property
    def moves_until_end(self) -> bool:
        """Return whether its times depend on when it is accepted."""
        return self.moves_from_s is not None and (self.ends_s is None or self.ends_s > self.moves_from_s)

    def terms_at(self, at_s: float) -> FinishTerms:
        """Return the terms if it is accepted at this time: they move by full seconds."""
        late_s = 0 if self.moves_from_s is None else math.ceil(at_s - self.moves_from_s)
        if late_s <= 0:
            return self.terms
        return changed(self.terms, finish_s=self.terms.finish_s + late_s, begin_by_s=self.terms.begin_by_s + late_s)


@value(frozen=True, slots=True)
class PromiseOffers:
    """Offers in place of the requested promise, and why that cannot be given; the first has number 1.

    No offer can be accepted after `ends_s`, seconds since the epoch; room is booked for all of them until then.
    """

    why: str
    ends_s: float
    offers: tuple[Offer, ...] = ()

    def offer(self, number: int) -> Offer | None:
        """Return the offer with this number; None if there is none."""
        return self.offers[number - 1] if 1 <= number <= len(self.offers) else None

    def terms(self, number: int, at_s: float) -> FinishTerms | None:
        """Return the terms of the offer with this number if it is accepted at this time; None if there is none."""
        offer = self.offer(number)
        return None if offer is None else offer.terms_at(at_s)

    def ends_of(self, number: int) -> float:
        """Return until when the offer with this number can be accepted, in seconds since the epoch."""
        offer = self.offer(number)
        return self.ends_s if offer is None or offer.ends_s is None else offer.ends_s
