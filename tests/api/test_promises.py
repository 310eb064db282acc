"""Promises through the API: decisions, offers, and accepting twice is once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.api import Api
from tests.support.documents import job, part
from tests.support.master import TickingMaster
from tests.support.waiting import until
from zoe_client import Client, Refused, wire
from zoe_client.vocabulary import OfferKind
from zoe_master.backends.simulated import ServiceBehaviour


def sized(cores: float, run_s: float, **more: Any) -> dict[str, Any]:
    resources = {"memory": "64MiB", "cores": cores}
    return job(components=[part(resources=resources)], size={"run_time_s": run_s}, **more)


def decided(client: Client, execution_id: str) -> wire.ExecutionView:
    return until(lambda: _decided(client.execution(execution_id)))


def _decided(found: wire.ExecutionView) -> wire.ExecutionView | None:
    return found if found.promise or found.offers or found.state in ("failed", "cancelled") else None


def full(client: Client, run_s: float = 4000) -> list[str]:
    """Fill both nodes."""
    ids = [client.submit(sized(4, run_s)).id for _ in range(2)]
    for id_ in ids:
        until(lambda id_=id_: client.execution(id_).state == "running")
    return ids


def test_a_promise_is_made_shown_and_kept(client: Client, master: TickingMaster) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=0.5)
    asked = client.submit(sized(1, 5), finish_by="+60s", confidence=0.8, budget=10)
    found = decided(client, asked.id)
    assert found.promise is not None
    terms = found.promise.terms
    assert (terms.confidence, terms.elastic, terms.run_s, terms.runs, terms.wide) == (0.8, 0, 5.0, 0, True)
    assert terms.finish_s == found.deadline_s
    assert terms.begin_by_s + terms.run_s < terms.finish_s
    assert terms.currency == "core-hours"
    done = client.wait(asked.id, timeout_s=20)
    assert (done.state, done.deadline and done.deadline.status) == ("succeeded", "met")
    assert [event.kind for event in client.events(asked.id).events][:3] == ["submitted", "promised", "queued"]
    assert found.description["promise"] == {"confidence": 0.8, "budget": 10}


def test_a_plan_says_what_would_be_promised_and_stores_nothing(client: Client, master: TickingMaster) -> None:
    until(lambda: master.master.latest)
    answer = client.plan(sized(1, 5), finish_by="+60s")
    assert answer.promise is not None
    assert answer.promise.terms is not None
    assert answer.promise.offers is None
    assert client.plan(sized(1, 5), deadline="+60s").promise is None
    countered = client.plan(sized(1, 50), finish_by="+10s").promise
    assert countered is not None
    assert countered.offers is not None
    assert "exceeds the time left" in countered.offers.why


def test_offers_are_accepted_once(client: Client, master: TickingMaster) -> None:
    full(client)
    asked = client.submit(sized(2, 5), finish_by="+60s")
    found = decided(client, asked.id)
    assert found.offers is not None
    assert found.state == "submitted"
    assert found.reason is not None
    assert (found.reason.code, found.offers.offers[0].kind) == ("promise", OfferKind.EARLIEST)
    with pytest.raises(Refused):
        client.accept(asked.id, 9)
    accepted = client.accept(asked.id, 1)
    assert accepted.promise is not None
    assert (accepted.promise.offer, accepted.offers) == (1, None)
    assert accepted.deadline_s == found.offers.offers[0].terms.finish_s
    assert client.accept(asked.id, 1).promise == accepted.promise
    if len(found.offers.offers) > 1:
        with pytest.raises(Refused):
            client.accept(asked.id, 2)
    until(lambda: client.execution(asked.id).state == "queued")
    kinds = [event.kind for event in client.events(asked.id).events]
    assert kinds.count("promised") == 1
    with pytest.raises(Refused, match="its promise depends on this"):
        client.modify(asked.id, wire.ModifyRequest(deadline="+3h"))
    assert client.modify(asked.id, wire.ModifyRequest(priority=-5)).priority == -5


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"confidence": 0.4}, "/promise/confidence"),
        ({"confidence": 1.0}, "/promise/confidence"),
        ({"confidence": "90%"}, ""),
        ({"budget": 0}, "/promise/budget"),
        ({"budget": -1}, "/promise/budget"),
        ({"budget": 1e400}, ""),
        ({"sure": True}, ""),
        (5, ""),
    ],
)
def test_an_invalid_promise_request_is_refused(shared_api: Api, wish: object, said: str) -> None:
    made = shared_api.http().post(
        "/api/v1/executions",
        content=_json({"application": {**sized(1, 5), "promise": wish}, "deadline_s": 60}),
        headers={"Content-Type": "application/json"},
    )
    assert made.status_code in (400, 422), made.text
    assert said in made.text


def _json(body: object) -> str:
    return json.dumps(body)


def test_a_promise_needs_a_time(shared_api: Api) -> None:
    http = shared_api.http()
    document = {**sized(1, 5), "promise": {}}
    for path, body in [
        ("executions", {"application": document}),
        ("plan", {"application": document}),
        ("arrays", {"application": document, "indices": "0-3"}),
    ]:
        made = http.post(f"/api/v1/{path}", json=body)
        assert made.status_code == 422, (path, made.text)
        assert made.json()["errors"][0]["pointer"] == "/application/promise"


def test_promise_for_an_endless_application_is_refused(shared_api: Api) -> None:
    document = {**sized(1, 5), "kind": "interactive", "promise": {}}
    made = shared_api.http().post("/api/v1/executions", json={"application": document, "deadline_s": 60})
    assert made.status_code == 422
    assert "does not end by itself" in made.text


def test_no_fewer_services_than_are_guaranteed(client: Client, master: TickingMaster) -> None:
    resources = {"memory": "64MiB", "cores": 0.1}
    parts = [part(resources=resources), part("worker", resources=resources, essential_count=0, total_count=4)]
    document = job(components=parts, size={"run_time_s": 5})
    found = decided(client, client.submit(document, finish_by="+60s").id)
    assert found.promise is not None
    assert found.promise.terms.elastic == 4
    with pytest.raises(Refused, match="guaranteed by its promise"):
        client.scale(found.id, {"worker": 1})
    assert client.scale(found.id, {"worker": 6}).elastic_total == 6


def test_the_sdk_drops_nothing_silently(shared_api: Api) -> None:
    client = shared_api.client()
    for more in ({"confidence": 0.9}, {"budget": 3.0}, {"deadline": "+1h", "finish_by": "+1h"}):
        with pytest.raises(ValueError, match="finish_by"):
            client.submit(sized(1, 5), **more)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="finish_by"):
            client.plan(sized(1, 5), **more)  # type: ignore[arg-type]
