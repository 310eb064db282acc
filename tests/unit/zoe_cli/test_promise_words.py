"""Texts on promises at risk, and on expired offers."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest
import typer

from zoe_cli.commands.watching.promising import PromiseOptions
from zoe_cli.commands.watching.workflow_promises import promise_lines_of, requested_promise
from zoe_cli.commands.words.deadline_words import deadline_cell
from zoe_cli.commands.words.promise_words import promise_event_words, promise_lines
from zoe_client.vocabulary import OfferKind
from zoe_client.wire import WorkflowOfferView, WorkflowPromiseView, WorkflowTermsView
from zoe_client.words.times import in_full

TERMS: dict[str, Any] = {
    "finish_s": 1200.0,
    "confidence": 0.9,
    "elastic": 0,
    "run_s": 100.0,
    "begin_by_s": 1090.0,
    "read_bytes_per_s": None,
    "price": None,
    "currency": "",
    "runs": 3,
    "wide": False,
}


def offered(state: str, ends_s: float) -> str:
    offers = {"why": "No room", "ends_s": ends_s, "offers": [{"number": 1, "kind": "earliest", "terms": TERMS}]}
    return " ".join(promise_lines({"id": "x1", "state": state, "cause": None, "promise": None, "offers": offers}))


def test_offers_are_accepted_only_until_they_are_over_or_it_has_ended() -> None:
    later_s = time.time() + 60
    assert "`zoe accept x1 NUMBER`" in offered("submitted", later_s)
    for state, ends_s in (("submitted", later_s - 61), ("cancelled", later_s), ("failed", later_s)):
        assert "No room" in offered(state, ends_s)
        assert "zoe accept" not in offered(state, ends_s)


@pytest.mark.parametrize(("accept", "in_s", "said"), [("zoe accept a1", 60, 1), ("zoe accept a1", -1, 0), ("", 60, 0)])
def test_the_same_holds_for_wholes(accept: str, in_s: float, said: int) -> None:
    terms = WorkflowTermsView(finish_s=1200.0, confidence=0.9, price=None, currency="")
    offers = [WorkflowOfferView(number=1, kind=OfferKind.EARLIEST, terms=terms)]
    promise = WorkflowPromiseView(terms=None, why="No room", ends_s=time.time() + in_s, offers=offers)
    assert " ".join(promise_lines_of(promise, accept)).count("accepts one until") == said


def test_risk_is_shown_with_its_time() -> None:
    notice = {"risk": "slower", "end_s": 1300.0, "at_s": 1150.0}
    promise = {"terms": TERMS, "at_s": 1000.0, "offer": 0, "notice": notice, "adjusted": None}
    execution = {"id": "x1", "state": "running", "cause": None, "promise": promise, "offers": None, "attempt": 1}
    text = " ".join(promise_lines(execution))
    assert f"At risk (slower), as of {in_full(1150.0)}: it is expected to end {in_full(1300.0)}." in text


@pytest.mark.parametrize(("risk", "told"), [("held", True), ("no_room", True), ("input_late", True), ("slower", False)])
def test_of_what_begins_nobody_knows_when_the_earliest_end_is_told(risk: str, told: bool) -> None:
    text = promise_event_words({"notice": {"risk": risk, "end_s": 1300.0, "at_s": 1150.0}})
    assert text.endswith("at the earliest") is told


@pytest.mark.parametrize("budget", [math.inf, math.nan, 0.0, -1.0])
def test_a_budget_is_a_price(budget: float) -> None:
    for given in (
        lambda: PromiseOptions("+1h", None, budget).put_in({}),
        lambda: requested_promise("+1h", None, budget),
    ):
        with pytest.raises(typer.BadParameter, match="must be a number above 0"):
            given()


def test_a_deadline_that_has_passed_is_not_in_no_time() -> None:
    deadline = {"at_s": time.time() - 5, "status": None}
    execution: Any = {"state": "submitted", "deadline": deadline}
    assert deadline_cell(execution) == "passed"
    deadline["at_s"] += 3600
    assert deadline_cell(execution).startswith("in 59m")


def test_adjusted_guarantee_is_shown_in_its_attempt_only() -> None:
    adjusted = {"elastic": 0, "attempt": 1, "at_s": 5.0, "read_bytes_per_s": 20_000_000}
    promise = {"terms": {**TERMS, "read_bytes_per_s": 10_000_000}, "notice": None, "adjusted": adjusted}
    running = {"id": "x1", "state": "running", "cause": None, "attempt": 1, "promise": promise}
    assert "It is late: at present 20 MB/s to read are guaranteed." in list(promise_lines(running))
    assert len(list(promise_lines({**running, "attempt": 2}))) == 1
    back = {**promise, "adjusted": {**adjusted, "read_bytes_per_s": 10_000_000}}
    assert len(list(promise_lines({**running, "promise": back}))) == 1
