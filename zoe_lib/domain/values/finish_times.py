"""Promises that an execution ends by a time, with a stated confidence, and offers of such promises."""

from __future__ import annotations

from decimal import Decimal

from zoe_client.vocabulary import OfferKind, PromiseRisk
from zoe_lib.domain.values.frozen import value

CONFIDENCE = 0.9
"""The confidence of a promise that names none."""
CONFIDENCE_LEAST, CONFIDENCE_MOST = 0.5, 0.99
MEMBERS_MAX = 100
"""Steps that are promised as a whole."""
INDICES_PROMISED_MAX = 500
"""Indices of an array that are promised together: equal ones are decided sooner than steps."""


@value(frozen=True, slots=True)
class PromiseWish:
    """What a user asks of a promise beside its time, which is the deadline.

    confidence: how sure it must be, from 0.5 to 0.99. budget: what it may cost at most, as a decimal number in the
    currency of the price list, or in core-hours without one; None: any price.
    """

    confidence: float = CONFIDENCE
    budget: str | None = None


def budget_text(budget: float | None) -> str | None:
    """Return a budget as a wish has it: all digits, without an exponent."""
    return None if budget is None else f"{Decimal(str(budget)):f}"


@value(frozen=True, slots=True)
class FinishTerms:
    """By when an execution ends, and what is guaranteed to it for that.

    finish_s: seconds since the epoch. elastic: how many of its elastic services are guaranteed, in the order in which
    they start. run_s: seconds from its placement in which it ends with this confidence. begin_by_s: when it is placed
    at the latest. read_bytes_per_s: bandwidth of the object store to read; None: none beyond what it requires. price:
    what it costs if it runs for `run_s`, as a decimal number; None: not known. runs: ended runs of its kind behind
    this; 0: its declared run time. wide: these are few, or had other numbers of cores. views: whether its inputs with a
    pushdown are read through views; None: that is decided when it starts.
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
    """That a promise is expected to be broken: why, when the execution is now expected to end, and when this was said;
    seconds since the epoch.
    """

    risk: PromiseRisk
    end_s: float
    at_s: float


@value(frozen=True, slots=True)
class PromiseAdjustment:
    """What is guaranteed to an attempt since `at_s`, instead of what the terms say: so many elastic services, and bytes
    per second to read (None: those of the terms).
    """

    elastic: int
    attempt: int
    at_s: float
    read_bytes_per_s: int | None = None


@value(frozen=True, slots=True)
class Promise:
    """Terms that are in force since `at_s`. offer: the number of the offer that they were; 0: they were asked for.
    notice: that they are expected to be broken, which is said once. adjusted: the newest adjustment to progress.
    """

    terms: FinishTerms
    at_s: float
    offer: int = 0
    notice: PromiseNotice | None = None
    adjusted: PromiseAdjustment | None = None

    def guaranteed(self, attempt: int) -> int:
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
    """Other terms than those that were asked for; kind: in what they differ."""

    kind: OfferKind
    terms: FinishTerms


@value(frozen=True, slots=True)
class PromiseOffers:
    """What can be promised instead of what was asked for, and why that cannot be; the first has number 1.

    Each of them can be accepted until `ends_s`, seconds since the epoch; room is kept for all of them until then.
    """

    why: str
    ends_s: float
    offers: tuple[Offer, ...] = ()

    def terms(self, number: int) -> FinishTerms | None:
        """Return the terms of the offer with this number; None if there is none."""
        return self.offers[number - 1].terms if 1 <= number <= len(self.offers) else None
