"""Texts about promises and offers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from zoe_cli.units import duration, rate
from zoe_client.quick.plain import Execution
from zoe_client.vocabulary import TERMINAL_STATES, OfferKind, PromiseRisk
from zoe_client.words.times import in_full

IN_WHAT = {
    OfferKind.EARLIEST: "the earliest end with that confidence",
    OfferKind.LESS_SURE: "in time, less surely",
    OfferKind.CHEAPEST: "the cheapest",
    OfferKind.DEARER: "in time, beyond the budget",
}
_LACKS_RUN_TIME = "give its expected run time"
# The start is unknown: the end is that of a run which begins at once.
_BEGINS_UNKNOWN = (PromiseRisk.NO_ROOM, PromiseRisk.HELD, PromiseRisk.INPUT_LATE)


def promise_lines(execution: Execution) -> Iterator[str]:
    """Return the decision, as sentences."""
    yield from _promise(execution)
    offers = execution.get("offers")
    if offers is not None:
        can_accept = execution["state"] == "submitted" and time.time() < offers["ends_s"]
        yield from offer_lines(offers, execution["id"] if can_accept else "")
    elif execution["cause"] == "no_promise":
        yield f"No promise: {execution['message']}."


def _promise(execution: Execution) -> Iterator[str]:
    promise = execution.get("promise")
    if promise is None:
        return
    yield f"Promised: {terms_words(promise['terms'])}."
    if execution["state"] in TERMINAL_STATES:
        return  # the outcome says more than the forecast
    adjusted = promise.get("adjusted")
    if adjusted is not None and adjusted["attempt"] == execution["attempt"]:
        if _fewer(promise, adjusted):
            yield f"It is early: at present {adjusted['elastic']} of its elastic services {_are(adjusted)} guaranteed."
        if (rate := adjusted.get("read_bytes_per_s") or 0) > (promise["terms"]["read_bytes_per_s"] or 0):
            yield f"It is late: at present {rate / 1e6:g} MB/s to read are guaranteed."
    if promise["notice"] is not None:
        notice = promise["notice"]
        yield f"{risk_words(notice, 'it')}."


def risk_words(notice: Mapping[str, Any], what: str) -> str:
    """Return that a promise was reported at risk; it may have caught up since."""
    at_s = notice.get("at_s")
    said = "" if at_s is None else f", as of {in_full(at_s)}"
    return f"At risk ({notice['risk']}){said}: {what} is expected to end {in_full(notice['end_s'])}{_at_least(notice)}"


def _at_least(notice: Mapping[str, Any]) -> str:
    return " at the earliest" if notice["risk"] in _BEGINS_UNKNOWN else ""


def _fewer(promise: Mapping[str, Any], adjusted: Mapping[str, Any]) -> bool:
    return bool(adjusted["elastic"] < promise["terms"]["elastic"])


def _are(adjusted: Mapping[str, Any]) -> str:
    return "is" if adjusted["elastic"] == 1 else "are"


def promise_event_words(data: Mapping[str, Any]) -> str:
    """Return the text of an event about a promise; empty for other events."""
    if (terms := data.get("terms")) is not None:
        offer = f"offer {data['offer']}: " if data.get("offer") else ""
        return offer + terms_words(terms)
    if (offers := data.get("offers")) is not None:
        several = len(offers["offers"])
        return f"{offers['why']}; {several} {'offer' if several == 1 else 'offers'}"
    if (elastic := data.get("elastic")) is not None:
        return f"{elastic} elastic {'service' if elastic == 1 else 'services'} guaranteed from now on"
    if (notice := data.get("notice")) is not None:
        return f"{notice['risk']}: it is expected to end {in_full(notice['end_s'])}{_at_least(notice)}"
    return ""


def offer_lines(offers: Mapping[str, Any], execution_id: str = "") -> Iterator[str]:
    """Return why there is no promise, and the offers; execution_id: the execution that can accept one now."""
    yield f"It cannot be promised: {offers['why']}."
    if offers["why"].endswith(_LACKS_RUN_TIME):
        yield "`--run-time` gives it, such as --run-time 45m."
    for offer in offers["offers"]:
        yield f"{offer_words(offer, terms_words(offer['terms']))}."
    if offers["offers"] and execution_id:
        yield f"`zoe accept {execution_id} NUMBER` accepts one until {in_full(offers['ends_s'])}."


def offer_words(offer: Mapping[str, Any], terms: str) -> str:
    """Return an offer as text: its terms if accepted now, and until when it stands or stood."""
    ends_s = offer.get("ends_s")
    lapsed = ends_s is not None and ends_s <= time.time()
    now = ", if accepted now; accepted later, it ends later by as much" if offer.get("moves") and not lapsed else ""
    until = "" if ends_s is None else f"; it {'stood' if lapsed else 'stands'} until {in_full(ends_s)}"
    return f"Offer {offer['number']} ({IN_WHAT[OfferKind(offer['kind'])]}): {terms}{now}{until}"


def terms_words(terms: Mapping[str, Any]) -> str:
    """Return the terms as text: end, confidence, guaranteed resources, and price."""
    with_what = [f"{terms['elastic']} elastic {'service' if terms['elastic'] == 1 else 'services'}"]
    if terms["read_bytes_per_s"]:
        with_what.append(f"{rate(terms['read_bytes_per_s'])} to read")
    if terms.get("views"):
        with_what.append("views of its inputs")
    price = "" if terms["price"] is None else f", for about {terms['price']} {terms['currency']}"
    runs = "1 run" if terms["runs"] == 1 else f"{terms['runs']} runs"
    plainly = " and its inputs read plainly" if terms.get("views") is False else ""
    basis = runs if terms["runs"] else "its declared run time"
    wide = "; a guess" if terms["wide"] else ""
    return (
        f"it ends by {in_full(terms['finish_s'])} with {terms['confidence']:.0%} confidence, with "
        f"{' and '.join(with_what)} guaranteed{plainly}{price}; it begins by {in_full(terms['begin_by_s'])} and takes "
        f"{duration(terms['run_s'])} (by {basis}{wide})"
    )
