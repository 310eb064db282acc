"""Arrays that are promised as a whole, through the API."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.test_promises import full, sized
from tests.support.api import Api, problem
from tests.support.limits import Quota, set_quota
from tests.support.master import TickingMaster
from tests.support.waiting import until
from zoe_client import Client, Conflict, Refused
from zoe_client.vocabulary import DeadlineStatus, ExecutionState, IndexState, OfferKind
from zoe_client.wire import ArrayModifyRequest, ArrayView
from zoe_master.backends.simulated import ServiceBehaviour

PATH = "/api/v1/arrays"


def decided(client: Client, array_id: str) -> ArrayView:
    def look() -> ArrayView | None:
        found = client.arrays.array(array_id)
        return found if found.promise and (found.promise.terms or found.promise.why) else None

    return until(look)


def test_all_indices_are_promised_and_kept(client: Client, master: TickingMaster) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=0.2)
    made = client.arrays.submit(sized(1, 2), "0-5%3", finish_by="+120s", confidence=0.8, budget=10)
    promise = decided(client, made.id).promise
    assert promise is not None
    assert promise.terms is not None
    assert (promise.terms.confidence, promise.terms.currency) == (0.8, "core-hours")
    assert float(promise.terms.price or 0) == pytest.approx(6 * 2 / 3600, rel=0.2)
    with pytest.raises(Conflict, match="it is promised already as asked for"):
        client.arrays.accept(made.id, 1)
    done = client.arrays.wait(made.id, 60)
    assert done.counts == {"succeeded": 6}
    assert done.promise is not None
    assert done.promise.status is DeadlineStatus.MET
    member = client.execution(f"{made.id}_5")
    assert member.promise is not None
    assert member.promise.terms.finish_s <= promise.terms.finish_s


def test_offers_are_accepted_for_all_indices_once(client: Client, master: TickingMaster) -> None:
    full(client)
    made = client.arrays.submit(sized(1, 5), "1-4%2", finish_by="+60s")
    found = decided(client, made.id)
    assert found.promise is not None
    assert found.promise.terms is None
    assert found.promise.offers[0].kind is OfferKind.EARLIEST
    assert (found.state, found.counts, found.ranges) == ("submitted", {"waiting": 4}, {"waiting": "1-4"})
    [listed] = [array for array in client.arrays.list().arrays if array.id == made.id]
    assert (listed.state, listed.counts) == ("submitted", {"waiting": 4})
    with pytest.raises(Refused, match="together with the other indices"):
        client.accept(f"{made.id}_1", 1)
    with pytest.raises(Conflict):
        client.arrays.accept(made.id, 9)
    with pytest.raises(Conflict, match="asks for a promise cannot be changed"):
        client.arrays.modify(made.id, ArrayModifyRequest(at_once_max=4))
    accepted = client.arrays.accept(made.id, 1)
    assert accepted.promise is not None
    assert accepted.promise.terms == found.promise.offers[0].terms
    assert accepted.deadline_s == accepted.promise.terms.finish_s
    assert (accepted.state != "submitted", accepted.counts) == (True, {"active": 4})
    assert client.arrays.accept(made.id, 1).promise == accepted.promise
    [noted] = [event for event in client.events(made.id).events if event.kind == "array_accepted"]
    assert (noted.data["offer"], noted.data["deadline_s"]) == (1, accepted.deadline_s)
    with pytest.raises(Conflict, match="its offer 1 was accepted already"):
        client.arrays.accept(made.id, 2)
    for index in range(1, 5):
        kinds = [event.kind for event in client.events(f"{made.id}_{index}").events]
        assert kinds.count("promised") == 1
    plain = client.arrays.submit(sized(1, 5), "0-1")
    assert client.arrays.array(plain.id).promise is None
    with pytest.raises(Conflict, match="no offers"):
        client.arrays.accept(plain.id, 1)
    client.arrays.cancel(plain.id)
    client.arrays.cancel(made.id)


def test_requeued_array_has_no_promise(client: Client, master: TickingMaster) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=0.0, exit_code=3)
    made = client.arrays.submit(sized(1, 2), "0-1", finish_by="+120s", confidence=0.8)
    failed = client.arrays.wait(made.id, 30)
    assert failed.promise is not None
    assert failed.promise.terms is not None
    assert failed.promise.status is None
    master.behaviours["main"] = ServiceBehaviour(run_s=0.0)
    client.arrays.requeue(made.id)
    done = client.arrays.wait(made.id, 30)
    assert (done.counts, done.promise) == ({"succeeded": 2}, None)


def test_an_array_whose_accepted_offer_is_kept_has_not_missed_what_it_asked_for(
    client: Client, master: TickingMaster
) -> None:
    """An index that began after the time that was asked for is in time, too."""
    master.behaviours["main"] = ServiceBehaviour(run_s=0.1)
    made = client.arrays.submit(sized(1, 8), "0-3%2", finish_by="+5s")
    found = decided(client, made.id)
    assert found.promise is not None
    assert found.promise.offers
    client.arrays.accept(made.id, 1)
    done = client.arrays.wait(made.id, 60)
    assert done.promise is not None
    assert done.promise.status is DeadlineStatus.MET
    assert (done.late_count, done.counts) == (None, {"succeeded": 4})
    assert done.promise.terms is not None
    assert done.deadline_s == done.promise.terms.finish_s


def test_before_the_time_at_which_it_may_begin_all_its_indices_wait(client: Client, master: TickingMaster) -> None:
    made = client.arrays.submit(sized(1, 2), "0-2", finish_by="+2h", begin_in_s=3600)
    promise = decided(client, made.id).promise
    assert promise is not None
    assert promise.terms is not None
    found = client.arrays.array(made.id)
    assert (found.state, found.counts) == (ExecutionState.SUBMITTED, {"waiting": 3})
    assert found.reason is not None
    [listed] = [array for array in client.arrays.list().arrays if array.id == made.id]
    assert (listed.state, listed.counts) == (found.state, found.counts)
    assert [index.state for index in client.arrays.indices(made.id)] == [IndexState.WAITING] * 3
    with pytest.raises(Conflict, match="asks for a promise cannot be changed"):
        client.arrays.modify(made.id, ArrayModifyRequest(at_once_max=1))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"indices": "0-500"}, "at most 500 indices"),
        ({"indices": "0-3", "after": ["corr:{other}"]}, "of another array"),
        ({"indices": "0-3", "deadline": None}, "needs a time"),
        ({"indices": "0-3", "begin_in_s": 7200}, "begins after its deadline"),
    ],
)
def test_arrays_that_cannot_be_promised_are_refused(shared_api: Api, more: dict[str, Any], said: str) -> None:
    http = shared_api.http()
    other = http.post(PATH, json={"application": sized(1, 2), "indices": "0-3", "hold": True}).json()["id"]
    body = {"application": {**sized(1, 2), "promise": {}}, "deadline": "+1h", **more}
    body["after"] = [entry.format(other=other) for entry in body.get("after", [])]
    answer = http.post(PATH, json=body)
    assert said in problem(answer)["detail"]
    http.post(f"{PATH}/{other}/cancel")


def test_more_than_limits_allow_at_all_is_refused(api: Api) -> None:
    set_quota(api.store, "red", Quota(executions_max=3))
    body = {"application": {**sized(1, 2), "promise": {}}, "deadline": "+1h", "indices": "0-3"}
    assert "allow 3" in problem(api.http().post(PATH, json=body))["detail"]


def test_confidence_without_finish_by_is_an_error(shared_api: Api) -> None:
    with pytest.raises(ValueError, match="need finish_by"):
        shared_api.client().arrays.submit(sized(1, 2), "0-1", confidence=0.9)


def test_a_plan_says_what_would_be_promised_to_all_indices_and_stores_nothing(
    client: Client, master: TickingMaster
) -> None:
    until(lambda: master.master.latest)
    planned = client.arrays.plan(sized(1, 2), "0-5%3", finish_by="+120s", confidence=0.8, budget=10)
    assert client.arrays.list().arrays == []
    made = client.arrays.submit(sized(1, 2), "0-5%3", finish_by="+120s", confidence=0.8, budget=10)
    promise = decided(client, made.id).promise
    assert promise is not None
    assert promise.terms is not None
    assert planned.promise.terms is not None
    assert planned.promise.terms.finish_s == pytest.approx(promise.terms.finish_s, abs=60)
    assert planned.promise.terms.price == promise.terms.price
    client.arrays.cancel(made.id)


def test_a_plan_of_an_array_has_the_offers_that_it_would_get(client: Client, master: TickingMaster) -> None:
    full(client)
    planned = client.arrays.plan(sized(1, 5), "1-4%2", finish_by="+60s")
    made = client.arrays.submit(sized(1, 5), "1-4%2", finish_by="+60s")
    promise = decided(client, made.id).promise
    assert promise is not None
    assert planned.promise.why == promise.why
    assert planned.promise.ends_s is None, "only submitted arrays can be accepted"
    kinds = [(offer.number, offer.kind, offer.terms.price) for offer in planned.promise.offers]
    assert kinds == [(offer.number, offer.kind, offer.terms.price) for offer in promise.offers]
    client.arrays.cancel(made.id)


def test_a_plan_of_an_array_needs_a_promise(shared_api: Api) -> None:
    body = {"application": sized(1, 5), "indices": "0-3", "deadline": "+1h"}
    refused = problem(shared_api.http().post(f"{PATH}:plan", json=body))
    assert refused["detail"].startswith("a plan of an array needs `promise`")
