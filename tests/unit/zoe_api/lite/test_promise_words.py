"""Promises and offers in words."""

from __future__ import annotations

import time
from dataclasses import replace

from tests.support.applications import execution
from zoe_api.lite.promise_words import offer_sentences, promise_sentence
from zoe_client.vocabulary import OfferKind, PromiseRisk
from zoe_client.words.times import in_full
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.domain.values.finish_times import FinishTerms, Offer, Promise, PromiseNotice, PromiseOffers

TERMS = FinishTerms(3600.0, 0.9, 1, 5.0, 1800.0)


def words(terms: FinishTerms) -> str:
    return promise_sentence(execution(1, promise=Promise(terms, 1.0)))


def test_a_promise_tells_its_times_and_what_is_guaranteed() -> None:
    end, begin = in_full(3600.0), in_full(1800.0)
    assert words(TERMS) == (
        f"Promised: it ends by {end} with 90% confidence, with 1 elastic service guaranteed; it begins by {begin}."
    )
    more = replace(TERMS, elastic=2, views=True, price="1.50", currency="EUR")
    assert "with 2 elastic services and views of its inputs guaranteed, for about 1.50 EUR; it" in words(more)
    assert "0 elastic services" in words(replace(TERMS, elastic=0, views=False))


def test_a_risk_is_told_until_it_has_ended() -> None:
    notice = PromiseNotice(PromiseRisk.SLOWER, 7200.0, 5.0)
    one = execution(1, promise=Promise(TERMS, 1.0, notice=notice))
    assert promise_sentence(one).endswith(f"At risk (slower): it is expected to end {in_full(7200.0)}.")
    assert "At risk" not in promise_sentence(replace(one, state=ExecutionState.SUCCEEDED))


def test_without_a_promise_it_is_told_why_not() -> None:
    assert promise_sentence(execution(1)) == ""
    assert promise_sentence(execution(1, offers=PromiseOffers("no room", 5.0))) == "It cannot be promised: no room."


def test_offers_are_told_as_long_as_they_can_be_accepted() -> None:
    ends_s = time.time() + 60
    offers = PromiseOffers("no room", ends_s, tuple(Offer(kind, TERMS) for kind in OfferKind))
    told = offer_sentences(execution(1, offers=offers))
    assert list(told) == list(range(1, len(OfferKind) + 1))
    assert told[1].startswith("Offer 1 (")
    assert f"until {in_full(ends_s)}: it ends by" in told[1]
    assert len({text.partition("until")[0] for text in told.values()}) == len(OfferKind)
    assert offer_sentences(execution(1)) == {}
    assert offer_sentences(execution(1, offers=replace(offers, ends_s=time.time() - 1))) == {}
    assert offer_sentences(execution(1, offers=offers, state=ExecutionState.QUEUED)) == {}
