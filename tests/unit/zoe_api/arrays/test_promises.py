"""Promises of whole arrays: the executions of one, and arrays that have not begun."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.support.applications import application
from tests.support.plain_api import Master, after, caller_of, person, refusal, request, services
from zoe_api.arrays import promises as array_promises
from zoe_api.http.problems.codes import Code
from zoe_client.vocabulary import OfferKind
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.arrays import Array, execution_of
from zoe_lib.domain.executions.indices import parse_array
from zoe_lib.domain.values.conditions import Conditions
from zoe_lib.domain.values.finish_times import FinishTerms, Offer, PromiseOffers, PromiseWish
from zoe_lib.domain.values.frozen import changed
from zoe_lib.store.documents.codec import encode

ID = "a0123456789abcd"
WISH = application(promise=PromiseWish())
TERMS = FinishTerms(9e11, 0.9, 1, 5.0, 8e11)
ADA = person()


def array(**changes: Any) -> Array:
    given = {"application": WISH, "deadline_s": 1e12, **changes}
    return Array(ID, "many", "iostack", "ada", submitted_at_s=1.0, indices=parse_array("0-2", 9)[0], **given)


def there(one: Array, made: int = 3, *events: ev.Event, master: Master | None = None) -> tuple[Any, Array]:
    """Return services with the array and executions of its first indices, after these events."""
    found = services(master=master)
    stored = found.store.submit_array(one, "cause")
    for position in range(made):
        execution = after(execution_of(stored, position, 1.0), ev.Submitted(at_s=1.0), *events)
        found.store._state.put(execution)
    return found, stored


def offered(number: int = 1) -> ev.Event:
    terms = [changed(TERMS, finish_s=9e11 + n) for n in range(number)]
    offers = PromiseOffers("no room", time.time() + 60, tuple(Offer(OfferKind.EARLIEST, term) for term in terms))
    return ev.PromiseOffered(at_s=1.0, offers=offers)


PROMISED = ev.Promised(at_s=1.0, terms=TERMS)


def test_only_an_array_that_asks_as_a_whole_has_a_promise() -> None:
    found, one = there(array(), 3, PROMISED)
    told = array_promises.array_promise(found, one)
    assert told is not None
    assert told.terms is not None
    assert told.terms.finish_s == 9e11
    for other in (array(application=application()), array(deadline_s=None), changed(one, run=2)):
        assert array_promises.array_promise(found, other) is None


def test_an_offer_is_accepted_for_all_indices_and_moves_the_deadline() -> None:
    found, one = there(array(), 3, offered(2))
    array_promises.accept_array(caller_of(found, ADA, request()), one, 2)
    promises = [found.store.execution(f"{ID}_{n}").promise for n in range(3)]
    assert [promise.offer for promise in promises if promise is not None] == [2, 2, 2]
    assert found.store.array(ID).deadline_s == 9e11 + 1
    entries = found.store.journal(0, 100, execution_id=ID)
    assert entries[-1].kind == "array_accepted"
    said = {"user": "ada", "offer": 2, "deadline_s": 9e11 + 1, "what": "offer 2"}
    assert entries[-1].data == {**said, "before": {"deadline_s": 1e12}, "after": {"deadline_s": 9e11 + 1}}
    array_promises.accept_array(caller_of(found, ADA, request()), one, 2)
    assert len(found.store.journal(0, 100, execution_id=ID)) == len(entries)


def test_the_deadline_is_that_of_the_index_that_ends_last() -> None:
    found, one = there(array(), 0)
    for position in range(3):
        offers = PromiseOffers(
            "no room", time.time() + 60, (Offer(OfferKind.EARLIEST, changed(TERMS, finish_s=9e11 - position)),)
        )
        execution = after(
            execution_of(one, position, 1.0), ev.Submitted(at_s=1.0), ev.PromiseOffered(at_s=1.0, offers=offers)
        )
        found.store._state.put(execution)
    array_promises.accept_array(caller_of(found, ADA, request()), one, 1)
    assert found.store.array(ID).deadline_s == 9e11


def test_offer_is_not_accepted_before_all_are_decided() -> None:
    found, one = there(array(), 2, offered())
    with refusal(Code.ILLEGAL_STATE) as refused:
        array_promises.accept_array(caller_of(found, ADA, request()), one, 1)
    assert refused.problem.hint == "it is not decided yet"


def test_an_array_without_a_promise_has_no_offers() -> None:
    found, one = there(array(application=application()), 0)
    with refusal(Code.ILLEGAL_STATE):
        array_promises.accept_array(caller_of(found, ADA, request()), one, 1)


@pytest.mark.parametrize(
    ("events", "conditions", "begun"),
    [
        ((), Conditions(), False),
        ((offered(),), Conditions(), False),
        ((PROMISED,), Conditions(), True),
        ((PROMISED,), Conditions(begin_at_s=1e12), False),
        ((PROMISED,), Conditions(begin_at_s=2.0), True),
    ],
)
def test_none_of_it_begins_before_the_decision_and_its_time(
    events: tuple[ev.Event, ...], conditions: Conditions, begun: bool
) -> None:
    found, one = there(array(conditions=conditions), 3, *events)
    assert array_promises.not_begun(found, [one]) == (frozenset() if begun else {ID})


def test_unstarted_or_unpromised_array_does_not_count_as_waiting() -> None:
    found, one = there(array(), 0)
    assert array_promises.not_begun(found, [one, changed(one, application=application())]) == frozenset()
    assert array_promises.not_begun(found, []) == frozenset()


def test_a_plan_asks_the_master_for_all_indices_together() -> None:
    master = Master(plan_together={"answers": [{"terms": encode(TERMS), "offers": None}] * 3})
    plan = array_promises.planned_array(caller_of(services(master=master), ADA, request()), array(notes=("note",)))
    assert plan.notes == ["note"]
    assert plan.promise.terms is not None
    ((kind, body, request_id, asker),) = master.asked
    assert (kind, request_id, asker) == ("plan_together", "request-1", "ada")
    assert [member["id"] for member in body["members"]] == [f"{ID}_{n}" for n in range(3)]
    assert len(body["applications"]) == 1
    with refusal(Code.INVALID_REQUEST):
        array_promises.planned_array(caller_of(services(), ADA, request()), array(deadline_s=None))
