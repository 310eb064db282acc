"""What pages without scripts say of promises and offers."""

from __future__ import annotations

from collections.abc import Mapping

from zoe_client.vocabulary import OfferKind
from zoe_client.words.times import in_full
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.execution import Execution, ExecutionState
from zoe_lib.domain.values.finish_times import FinishTerms

_IN_WHAT: Mapping[OfferKind, str] = {
    OfferKind.EARLIEST: "the earliest end that sure",
    OfferKind.LESS_SURE: "in time, less surely",
    OfferKind.CHEAPEST: "later, for the lowest price",
    OfferKind.DEARER: "in time, beyond the budget",
}


def promise_sentence(execution: Execution) -> str:
    """Return what is promised, or why nothing is; empty without either."""
    promise, offers = execution.promise, execution.offers
    if promise is None:
        return "" if offers is None else f"It cannot be promised: {offers.why}."
    notice = promise.notice
    late = (
        ""
        if notice is None or execution.terminal
        else f" At risk ({notice.risk}): it is expected to end {in_full(notice.end_s)}."
    )
    return f"Promised: {_terms(promise.terms)}.{late}"


def offer_sentences(execution: Execution, clock: Clock = SYSTEM_CLOCK) -> Mapping[int, str]:
    """Return the offers that can be accepted now, by their numbers."""
    offers = execution.offers
    if offers is None or execution.state is not ExecutionState.SUBMITTED or clock.now_s() >= offers.ends_s:
        return {}
    until = in_full(offers.ends_s)
    return {
        number: f"Offer {number} ({_IN_WHAT[one.kind]}), until {until}: {_terms(one.terms)}."
        for number, one in enumerate(offers.offers, start=1)
    }


def _terms(terms: FinishTerms) -> str:
    services = f"{terms.elastic} elastic {'service' if terms.elastic == 1 else 'services'}"
    views = " and views of its inputs" if terms.views else ""
    price = "" if terms.price is None else f", for about {terms.price} {terms.currency}"
    return (
        f"it ends by {in_full(terms.finish_s)} with {terms.confidence:.0%} confidence, with {services}{views} "
        f"guaranteed{price}; it begins by {in_full(terms.begin_by_s)}"
    )
