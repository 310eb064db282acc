"""Common promises: the decision for all, and the acceptance for all or none."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from tests.support.applications import application, execution
from tests.support.plain_api import PEER, TENANT, Master, after, caller_of, person, refusal, request, services
from zoe_api.arrays import whole_promises
from zoe_api.http.problems.codes import Code
from zoe_client.vocabulary import Cause, DeadlineCause, DeadlineStatus, OfferKind, PromiseRisk
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Execution, ExecutionState, Mark, Outcome
from zoe_lib.domain.values.deadlines import DeadlineMiss
from zoe_lib.domain.values.finish_times import FinishTerms, Offer, Promise, PromiseNotice, PromiseOffers, PromiseWish
from zoe_lib.store.documents.codec import encode

ADA = person()
DAY_S = 86_400.0
TERMS = FinishTerms(100.0, 0.9, 1, 5.0, 80.0, price="1.25", currency="EUR")
LATER = FinishTerms(120.0, 0.8, 2, 5.0, 80.0, price="2.50", currency="EUR")
WISH = application(promise=PromiseWish())


def offers(*terms: FinishTerms, ends_in_s: float = DAY_S) -> PromiseOffers:
    several = tuple(Offer(OfferKind.EARLIEST, term) for term in terms)
    return PromiseOffers("no room", time.time() + ends_in_s, several)


def member(number: int = 1, **changes: Any) -> Execution:
    return execution(number, **{"application": WISH, "deadline_s": 1e12, **changes})


def promised(number: int = 1, terms: FinishTerms = TERMS, offer: int = 0, **changes: Any) -> Execution:
    notice = changes.pop("notice", None)
    return member(number, promise=Promise(terms, 1.0, offer, notice), **changes)


# -- together ----------------------------------------------------------------------------------------------------------
def test_the_whole_ends_with_its_last_and_costs_what_all_cost() -> None:
    told = whole_promises._common_terms([LATER, TERMS])
    assert (told.finish_s, told.confidence, told.price, told.currency) == (120.0, 0.8, "3.7500", "EUR")
    assert whole_promises._common_terms([TERMS, replace(LATER, price=None)]).price is None
    assert whole_promises._common_terms([replace(TERMS, price="0")]).price == "0.0000"


def test_a_plan_promises_if_all_are_promised() -> None:
    def told(*answers: dict[str, Any]) -> Any:
        master = Master(plan_together={"answers": list(answers)})
        return whole_promises.planned_promise(caller_of(services(master=master), ADA, request()), [member()])

    yes, no = {"terms": encode(TERMS), "offers": None}, {"terms": None, "offers": encode(offers(LATER))}
    assert told(yes, yes).terms.finish_s == 100.0
    part = told(yes, no)
    assert (part.terms, part.why, part.ends_s) == (None, "no room", None)
    assert [(offer.number, offer.terms.finish_s) for offer in part.offers] == [(1, 120.0)]


def test_each_application_is_asked_about_once() -> None:
    other = application(name="other", promise=PromiseWish())
    body = whole_promises._question([member(1), member(2, application=other, priority=5), member(3)])
    assert [entry["name"] for entry in body["applications"]] == ["sums", "other"]
    assert [entry["application"] for entry in body["members"]] == [0, 1, 0]
    assert [entry["priority"] for entry in body["members"]] == [0, 5, 0]
    assert (body["tenant"], body["user"], body["submitted_at_s"]) == ("iostack", "ada", 1.0)


# -- decisions ---------------------------------------------------------------------------------------------------------
def test_risks_of_a_promise_are_sorted_by_notice() -> None:
    first = PromiseNotice(PromiseRisk.SLOWER, 130.0, 5.0)
    second = PromiseNotice(PromiseRisk.SLOWER, 140.0, 6.0)
    far = replace(TERMS, finish_s=9e11)
    told = whole_promises.promise_of(
        [promised(1, far, notice=second), promised(2, far, notice=first), promised(3, far), member(4)]
    )
    assert [(risk.step, risk.end_s) for risk in told.risks] == [("sums 2", 130.0), ("sums 1", 140.0)]
    assert (told.status, told.why, told.offers) == (DeadlineStatus.AT_RISK, "", [])
    ended = replace(promised(1, far, notice=first), state=ExecutionState.SUCCEEDED)
    assert whole_promises.promise_of([ended, promised(2, far)]).risks == []


def test_offers_or_why_there_is_no_promise_are_told() -> None:
    one = member(1, offers=offers(TERMS, LATER))
    two = member(2, offers=offers(LATER))
    told = whole_promises.promise_of([one, two])
    assert told.offers is not None
    assert [(o.number, o.terms.finish_s, o.terms.price) for o in told.offers] == [
        (1, 120.0, "3.7500"),
        (2, 120.0, "2.5000"),
    ]
    assert (told.terms, told.why) == (None, "no room")
    assert one.offers is not None
    assert told.ends_s == one.offers.ends_s
    refused = member(1, cause=Cause.NO_PROMISE, message="nobody answered", state=ExecutionState.FAILED)
    assert whole_promises.promise_of([member(2), refused]).why == "nobody answered"
    cancelled = replace(one, cause=Cause.CANCELLED, state=ExecutionState.CANCELLED)
    told = whole_promises.promise_of([cancelled, two])
    assert (told.why, told.offers) == ("it was cancelled before an offer was accepted", [])
    assert whole_promises.promise_of([member(2)]).why == ""


SUCCEEDED, FAILED, RUNNING = ExecutionState.SUCCEEDED, ExecutionState.FAILED, ExecutionState.RUNNING
MISS = DeadlineMiss(100.0, DeadlineCause.QUEUE)


@pytest.mark.parametrize(
    ("states", "ends_s", "missed", "now_s", "status"),
    [
        ([RUNNING], [None], None, 100.0, None),
        ([RUNNING], [None], None, 100.1, DeadlineStatus.MISSED),
        ([SUCCEEDED], [100.0], None, 200.0, DeadlineStatus.MET),
        ([SUCCEEDED], [100.1], None, 200.0, DeadlineStatus.MISSED),
        ([SUCCEEDED, SUCCEEDED], [50.0, 100.1], None, 200.0, DeadlineStatus.MISSED),
        ([SUCCEEDED, RUNNING], [50.0, None], None, 60.0, None),
        ([SUCCEEDED, FAILED], [50.0, 60.0], None, 200.0, None),
        ([SUCCEEDED, FAILED], [50.0, 150.0], None, 200.0, None),
        ([SUCCEEDED, FAILED], [50.0, 150.0], MISS, 200.0, DeadlineStatus.MISSED),
        ([SUCCEEDED, FAILED], [50.0, 90.0], MISS, 200.0, None),
        ([SUCCEEDED], [None], None, 50.0, DeadlineStatus.MISSED),
    ],
)
def test_the_whole_stands_to_its_time_as_its_parts_do(
    states: list[ExecutionState],
    ends_s: list[float | None],
    missed: DeadlineMiss | None,
    now_s: float,
    status: DeadlineStatus | None,
) -> None:
    members = [
        promised(n, state=state, marks={} if end_s is None else {Mark.ENDED: end_s}, missed=missed)
        for n, (state, end_s) in enumerate(zip(states, ends_s, strict=True))
    ]
    assert whole_promises._status(members, 100.0, [], now_s) is status


# -- acceptance --------------------------------------------------------------------------------------------------------
def stored(*members: Execution) -> Any:
    return services(*members)


def waiting(number: int = 1, *terms: FinishTerms, ends_in_s: float = DAY_S) -> Execution:
    given = offers(*(terms or (TERMS, LATER)), ends_in_s=ends_in_s)
    return after(member(number), ev.Submitted(at_s=1.0), ev.PromiseOffered(at_s=1.0, offers=given))


def accept(there: Any, number: int, user: str = "ada") -> bool:
    ids = sorted(there.store._state.executions)
    return whole_promises.accept_for(caller_of(there, person(user), request()), ids, number)


def promises(there: Any) -> list[int | None]:
    found = [there.store.execution(execution).promise for execution in sorted(there.store._state.executions)]
    return [None if entry is None else entry.offer for entry in found]


def test_an_offer_is_accepted_for_all_at_once_and_only_once() -> None:
    there = stored(waiting(1), waiting(2))
    assert accept(there, 2)
    assert (promises(there), there.master.hints) == ([2, 2], 1)
    assert not accept(there, 2)
    assert there.master.hints == 1
    entries = [entry for entry in there.store.journal(0, 10) if entry.kind == "promised"]
    assert [(entry.data["user"], entry.data["offer"], entry.cause_id) for entry in entries] == [
        ("ada", 2, "request-1")
    ] * 2


def test_it_takes_the_level_to_control_all() -> None:
    there = stored(waiting(1), waiting(2))
    there.accounts.shared["execution-0001", TENANT, PEER] = ShareLevel.CONTROL
    there.accounts.shared["execution-0002", TENANT, PEER] = ShareLevel.OPEN
    with refusal(Code.SHARE_TOO_LOW):
        accept(there, 1, PEER)
    assert promises(there) == [None, None]


ENDED = after(waiting(2), ev.Refused(at_s=2.0, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED))


@pytest.mark.parametrize(
    ("members", "number", "detail", "hint"),
    [
        ([waiting(1), waiting(2)], 3, "there is no offer 3", "it has the offers 1 to 2"),
        ([waiting(1), waiting(2)], 0, "there is no offer 0", "it has the offers 1 to 2"),
        ([waiting(1), waiting(2, ends_in_s=-1)], 1, "there are no offers to accept", "submit it again"),
        ([waiting(1), after(member(2), ev.Submitted(at_s=1.0))], 1, "there are no offers to accept", "submit it again"),
        ([promised(1, offer=1), waiting(2)], 2, "its offer 1 was accepted already", ""),
        ([promised(1, offer=0), waiting(2)], 2, "it is promised already as asked for", ""),
        ([ENDED], 1, "there are no offers to accept", "submit it again"),
        (
            [waiting(1), ENDED],
            1,
            "its offers are for the whole, and parts have ended since: sums 2",
            "submit it again",
        ),
    ],
)
def test_offer_not_made_to_all_is_accepted_for_none(
    members: list[Execution], number: int, detail: str, hint: str
) -> None:
    there = stored(*members)
    before = promises(there)
    with refusal(Code.ILLEGAL_STATE) as found:
        accept(there, number)
    assert found.problem.detail == detail
    assert found.problem.hint.startswith(hint)
    assert promises(there) == before


def test_partly_accepted_offer_is_completed() -> None:
    there = stored(promised(1, offer=2), waiting(2))
    assert accept(there, 2)
    assert promises(there) == [2, 2]
    over = replace(promised(1, offer=2), state=SUCCEEDED)
    assert not accept(stored(over, promised(2, offer=2)), 2)


def test_at_most_five_ended_parts_are_named_and_indices_by_their_ids() -> None:
    gone = [replace(ENDED, id=f"a0123456789abcd_{n}", name="many") for n in range(6)]
    with refusal(Code.ILLEGAL_STATE) as found:
        whole_promises._to_be_promised([waiting(1), *gone], 1, 0.0)
    assert found.problem.detail.count("a0123456789abcd_") == 5
    assert "many" not in found.problem.detail


@pytest.mark.parametrize(("busy", "works"), [(4, True), (5, False)])
def test_it_is_tried_again_when_one_of_them_changed_meanwhile(busy: int, works: bool) -> None:
    there, tries = stored(waiting(1), waiting(2)), []
    write = there.store.append_all

    def append_all(changes: Any, epoch: Any) -> Any:
        tries.append(1)
        return write(changes, epoch) if len(tries) > busy else {}

    there.store.append_all = append_all
    if works:
        assert accept(there, 1)
    else:
        with refusal(Code.CONFLICT):
            accept(there, 1)
    assert len(tries) == 5
