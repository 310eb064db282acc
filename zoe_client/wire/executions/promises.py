"""Promises that an execution ends by a time, and offers of alternatives."""

from __future__ import annotations

from pydantic import Field

from zoe_client.vocabulary import OfferKind, PromiseRisk
from zoe_client.wire.base import Numbers, Wire


class FinishTermsView(Wire):
    """Terms of a promise: the end, the confidence, and the guaranteed resources."""

    finish_s: float = Field(description="Promised end, in seconds since the epoch.")
    confidence: float = Field(description="Probability of an end by then, from 0.5 to 0.99.")
    elastic: int = Field(
        description="Number of guaranteed elastic services: they start with the essential ones, the scheduler never "
        "takes them back, and failed ones are replaced."
    )
    read_bytes_per_s: int | None = Field(description="Guaranteed read bandwidth; null: none beyond its own.")
    views: bool | None = Field(
        default=None,
        description="Whether its inputs with a pushdown are read through views; null: decided at its start.",
    )
    run_s: float = Field(description="Seconds from its placement within which it ends, with this confidence.")
    begin_by_s: float = Field(description="Latest time of its placement.")
    price: str | None = Field(description="Price if it runs for `run_s`; null: unknown.")
    currency: str = Field(description="The currency of the price list; `core-hours` without one.")
    runs: int = Field(description="Number of similar ended runs behind the estimate; 0: the declared run time.")
    wide: bool = Field(description="Whether the estimate is uncertain: few runs, or other numbers of cores.")


class PromiseNoticeView(Wire):
    """A promise that is expected to be broken: the cause, the expected end, and the time of this notice."""

    risk: PromiseRisk
    end_s: float
    at_s: float


class PromiseAdjustmentView(Wire):
    """New guarantees of an attempt, adjusted to its progress, from a time on."""

    elastic: int
    attempt: int
    at_s: float
    read_bytes_per_s: int | None = Field(
        default=None, description="Guaranteed read bandwidth in bytes per second since then; null: as promised."
    )


class PromiseView(Wire):
    """A promise that is in force."""

    terms: FinishTermsView
    at_s: float = Field(description="When it was made.")
    offer: int = Field(description="Number of the accepted offer; 0: the promise is as requested.")
    notice: PromiseNoticeView | None = Field(description="Null while the promise is expected to be kept.")
    adjusted: PromiseAdjustmentView | None = Field(
        default=None,
        description="The newest adjustment to its progress: fewer services are guaranteed while it is early, and "
        "more bandwidth while it is late.",
    )


class OfferView(Wire):
    """Alternative terms."""

    number: int
    kind: OfferKind = Field(description="How the terms differ from the request.")
    terms: FinishTermsView = Field(description="The terms if it is accepted now.")
    moves: bool = Field(default=False, description="Whether it ends later if it is accepted later.")
    ends_s: float | None = Field(default=None, description="Until when it can be accepted.")


class OffersView(Wire):
    """Offers instead of the requested promise, and why that cannot be given. `ends_s`: the latest end of any."""

    why: str
    ends_s: float
    offers: list[OfferView]


class PromiseOutlookView(Wire):
    """The promise that would be given: its terms, or offers of alternatives."""

    terms: FinishTermsView | None
    offers: OffersView | None


class AcceptRequest(Numbers):
    """The number of the accepted offer."""

    offer: int = Field(default=1, ge=1, le=10)
