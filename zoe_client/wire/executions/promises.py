"""Promises that an execution ends by a time, and offers of other promises."""

from __future__ import annotations

from pydantic import Field

from zoe_client.vocabulary import OfferKind, PromiseRisk
from zoe_client.wire.base import Numbers, Wire


class FinishTermsView(Wire):
    """By when an execution ends, how sure that is, and what is guaranteed to it for that."""

    finish_s: float = Field(description="When it has ended, in seconds since the epoch.")
    confidence: float = Field(description="The chance that it has, from 0.5 to 0.99.")
    elastic: int = Field(
        description="Number of its elastic services that are guaranteed: they start with the essential ones, nobody "
        "takes them back, and those that fail are replaced."
    )
    read_bytes_per_s: int | None = Field(description="Bandwidth to read that is guaranteed; null: none beyond its own.")
    views: bool | None = Field(
        default=None,
        description="Whether its inputs with a pushdown are read through views; null: that is decided when it starts.",
    )
    run_s: float = Field(description="Seconds from its placement in which it ends with this confidence.")
    begin_by_s: float = Field(description="When it is placed at the latest.")
    price: str | None = Field(description="What it costs if it runs for `run_s`; null: not known.")
    currency: str = Field(description="The currency of the price list; `core-hours` without one.")
    runs: int = Field(description="Ended runs of its kind behind this; 0: its declared run time.")
    wide: bool = Field(description="Whether these say little: they are few, or had other numbers of cores.")


class PromiseNoticeView(Wire):
    """That a promise is expected to be broken: why, when it is expected to end now, and when this was noted."""

    risk: PromiseRisk
    end_s: float
    at_s: float


class PromiseAdjustmentView(Wire):
    """That so many of its elastic services are guaranteed to an attempt since then, as its progress needs."""

    elastic: int
    attempt: int
    at_s: float
    read_bytes_per_s: int | None = Field(
        default=None, description="Bytes per second to read that are guaranteed since then; null: as promised."
    )


class PromiseView(Wire):
    """A promise that is in force."""

    terms: FinishTermsView
    at_s: float = Field(description="When it was made.")
    offer: int = Field(description="The number of the offer that was accepted; 0: it is as it was asked for.")
    notice: PromiseNoticeView | None = Field(description="Null while it is expected to be kept.")
    adjusted: PromiseAdjustmentView | None = Field(
        default=None,
        description="The newest adjustment to its progress: fewer services are guaranteed while it is early, and "
        "more bandwidth while it is late.",
    )


class OfferView(Wire):
    """Other terms than those that were asked for."""

    number: int
    kind: OfferKind = Field(description="In what they differ.")
    terms: FinishTermsView


class OffersView(Wire):
    """What can be promised instead of what was asked for, and why that cannot be. Room is kept for each until
    `ends_s`.
    """

    why: str
    ends_s: float
    offers: list[OfferView]


class PromiseOutlookView(Wire):
    """What would be promised: the terms, or offers of others."""

    terms: FinishTermsView | None
    offers: OffersView | None


class AcceptRequest(Numbers):
    """Which offer is accepted."""

    offer: int = Field(default=1, ge=1, le=10)
