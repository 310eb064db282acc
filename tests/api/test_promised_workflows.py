"""Workflows that are promised as a whole, through the API."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.test_promises import full
from tests.api.test_workflows import ended, exits, states, step, workflow
from tests.support.api import Api, problem
from tests.support.master import TickingMaster
from tests.support.waiting import until
from zoe_client import Client, Conflict, Refused
from zoe_client.vocabulary import DeadlineStatus, OfferKind, PromiseRisk
from zoe_client.wire import WorkflowView

PATH = "/api/v1/workflows"


def timed(name: str, *needs: str, cores: float = 1, run_s: float = 5.0, **more: Any) -> dict[str, Any]:
    found = step(name, *needs, **more)
    found["application"]["size"] = {"run_time_s": run_s}
    found["application"]["components"][0]["resources"]["cores"] = cores
    return found


CHAIN = workflow(timed("first"), timed("second", "first"), timed("third", "second"), timed("told", "fail:first"))


def decided(client: Client, workflow_id: str) -> WorkflowView:
    def look() -> WorkflowView | None:
        found = client.workflows.one(workflow_id)
        return found if found.promise and (found.promise.terms or found.promise.why) else None

    return until(look)


def test_all_steps_are_promised_and_kept(client: Client, master: TickingMaster) -> None:
    master.behaviours.update({name: exits(0) for name in ("first", "second", "third")})
    made = client.workflows.run(CHAIN, finish_by="+120s", confidence=0.8, budget=10)
    terms = decided(client, made.id).promise
    assert terms is not None
    assert terms.terms is not None
    assert (terms.terms.confidence, terms.terms.currency) == (0.8, "core-hours")
    assert float(terms.terms.price or 0) == pytest.approx(3 * 5 / 3600, rel=0.2)
    found = ended(client, made.id)
    assert states(found)["third"] == "succeeded"
    for name in ("first", "second", "third"):
        one = client.execution(next(step.execution_id for step in found.graph if step.name == name))
        assert one.promise is not None
        assert one.deadline is not None
        assert one.deadline.status == "met"
    [told] = [step for step in found.graph if step.name == "told"]
    assert client.execution(told.execution_id).promise is None, "steps after a failure are not promised"


def test_an_offer_is_accepted_for_all_once(client: Client, master: TickingMaster) -> None:
    full(client)
    made = client.workflows.run(CHAIN, finish_by="+60s")
    found = decided(client, made.id)
    assert found.promise is not None
    assert found.promise.terms is None
    assert found.promise.offers[0].kind is OfferKind.EARLIEST
    [first] = [step.execution_id for step in found.graph if step.name == "first"]
    with pytest.raises(Refused, match="together with the other steps"):
        client.accept(first, 1)
    with pytest.raises(Conflict):
        client.workflows.accept(made.id, 9)
    accepted = client.workflows.accept(made.id, 1)
    assert accepted.promise is not None
    assert accepted.promise.terms == found.promise.offers[0].terms
    assert client.workflows.accept(made.id, 1).promise == accepted.promise
    kinds = [event.kind for event in client.events(first).events]
    assert kinds.count("promised") == 1
    plain = client.workflows.run(CHAIN)
    with pytest.raises(Conflict, match="no offers"):
        client.workflows.accept(plain.id, 1)
    client.workflows.cancel(plain.id)
    client.workflows.cancel(made.id)


def test_without_a_run_time_it_is_said_of_which_step(client: Client, master: TickingMaster) -> None:
    made = client.workflows.run(workflow(timed("first"), step("second", "first")), finish_by="+60s")
    found = ended(client, made.id)
    assert found.promise is not None
    assert found.promise.why.startswith("No promise") or "second: its run time is not known" in found.promise.why


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"finish_by": "yesterday"}, "/finish_by"),
        ({"finish_by": "2020-01-01T00:00:00Z"}, "/finish_by"),
        ({"finish_by": "08:00"}, "/finish_by"),
        ({"finish_by": "+1h", "confidence": 0.3}, "/confidence"),
        ({"finish_by": "+1h", "budget": 0}, "/budget"),
        ({"confidence": 0.9}, "finish_by"),
    ],
)
def test_an_invalid_promise_request_is_refused(shared_api: Api, wish: dict[str, Any], said: str) -> None:
    answer = shared_api.http().post(PATH, json={"document": CHAIN, **wish})
    assert answer.status_code == 422
    assert said in answer.text


def test_no_more_than_a_hundred_are_promised_together(shared_api: Api) -> None:
    many = workflow(*(timed(f"s{number}") for number in range(101)))
    answer = shared_api.http().post(PATH, json={"document": many, "finish_by": "+1h"})
    assert problem(answer)["code"] == "invalid_request"
    assert "at most 100" in answer.text


def test_resumed_workflow_has_no_promise(client: Client, master: TickingMaster) -> None:
    master.behaviours.update({"first": exits(0), "second": exits(3), "told": exits(0)})
    made = client.workflows.run(CHAIN, finish_by="+120s", confidence=0.8)
    failed = ended(client, made.id)
    assert failed.promise is not None
    assert failed.promise.terms is not None
    master.behaviours.update({"second": exits(0), "third": exits(0)})
    resumed = client.workflows.resume(made.id)
    assert resumed.notes == ["a resumed workflow runs without a promise"]
    assert resumed.promise is None
    with pytest.raises(Conflict, match="no offers"):
        client.workflows.accept(made.id, 1)
    found = ended(client, made.id)
    assert (found.run, found.state, found.promise) == (2, "succeeded", None)
    assert client.workflows.one(made.id).notes == []


def test_offers_for_all_are_not_accepted_for_a_part(client: Client, master: TickingMaster) -> None:
    full(client)
    made = client.workflows.run(CHAIN, finish_by="+60s")
    found = decided(client, made.id)
    by_name = {step.name: step.execution_id for step in found.graph}
    client.cancel(by_name["third"])
    with pytest.raises(Conflict, match="parts have ended since: third"):
        client.workflows.accept(made.id, 1)
    assert client.execution(by_name["first"]).promise is None
    client.workflows.cancel(made.id)


def test_it_is_shown_that_a_promise_is_at_risk_and_that_it_is_broken(client: Client, master: TickingMaster) -> None:
    master.behaviours["only"] = exits(0)
    document = workflow(timed("before", run_s=1.0), timed("only", "before", run_s=1.0))
    made = client.workflows.run(document, finish_by="+13s")
    found = decided(client, made.id)
    assert found.promise is not None
    assert found.promise.status is None
    held = {step.name: step.execution_id for step in found.graph}["only"]
    client.hold(held)

    def status(wanted: DeadlineStatus) -> WorkflowView | None:
        found = client.workflows.one(made.id)
        return found if found.promise and found.promise.status is wanted else None

    master.behaviours["before"] = exits(0)
    at_risk = until(lambda: status(DeadlineStatus.AT_RISK), 20).promise
    assert at_risk is not None
    assert at_risk.terms is not None
    [risk] = at_risk.risks
    assert (risk.step, risk.risk) in {("only", PromiseRisk.HELD), ("before", PromiseRisk.SLOWER)}
    assert risk.end_s > at_risk.terms.finish_s - 7
    until(lambda: status(DeadlineStatus.MISSED), 20)
    client.release(held)
    client.workflows.cancel(made.id)


def test_a_promise_that_was_kept_is_shown_as_such(client: Client, master: TickingMaster) -> None:
    master.behaviours.update({name: exits(0) for name in ("first", "second", "third")})
    made = client.workflows.run(CHAIN, finish_by="+120s", confidence=0.8)
    promise = ended(client, made.id).promise
    assert promise is not None
    assert (promise.status, promise.risks) == (DeadlineStatus.MET, [])


def test_a_step_that_asks_for_a_promise_of_its_own_is_told_of_that_of_the_whole(shared_api: Api) -> None:
    alone = timed("first")
    alone["application"] |= {"promise": {"confidence": 0.9}, "deadline": "+1h"}
    answer = problem(shared_api.http().post(PATH, json={"document": workflow(alone)}))
    assert "zoe workflow run FILE --finish-by" in answer["errors"][0]["hint"]


def test_a_plan_says_what_would_be_promised_to_all_steps_and_stores_nothing(
    client: Client, master: TickingMaster
) -> None:
    until(lambda: master.master.latest)
    planned = client.workflows.plan(CHAIN, finish_by="+120s", confidence=0.8, budget=10)
    assert client.workflows.page().workflows == []
    made = client.workflows.run(CHAIN, finish_by="+120s", confidence=0.8, budget=10)
    promise = decided(client, made.id).promise
    assert promise is not None
    assert promise.terms is not None
    assert planned.promise.terms is not None
    assert planned.promise.terms.finish_s == pytest.approx(promise.terms.finish_s, abs=60)
    assert planned.promise.terms.price == promise.terms.price
    client.workflows.cancel(made.id)


def test_a_plan_of_a_workflow_has_the_offers_that_it_would_get(client: Client, master: TickingMaster) -> None:
    full(client)
    planned = client.workflows.plan(CHAIN, finish_by="+60s")
    made = client.workflows.run(CHAIN, finish_by="+60s")
    promise = decided(client, made.id).promise
    assert promise is not None
    assert planned.promise.why == promise.why
    assert [offer.kind for offer in planned.promise.offers] == [offer.kind for offer in promise.offers]
    client.workflows.cancel(made.id)


def test_a_plan_of_a_workflow_needs_a_time_and_a_step_that_can_be_promised(shared_api: Api) -> None:
    api = shared_api.http()
    refused = problem(api.post(f"{PATH}:plan", json={"document": CHAIN}))
    assert refused["detail"] == "a plan needs the time by which the whole workflow should end: finish_by"
    past = problem(api.post(f"{PATH}:plan", json={"document": CHAIN, "finish_by": "2020-01-01T00:00Z"}))
    assert "has passed" in past["detail"]
