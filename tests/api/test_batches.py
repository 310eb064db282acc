"""Several submissions in one request: all or none of them, in one transaction, once per key."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.support.api import Api, in_threads, problem
from tests.support.documents import job
from tests.support.limits import Quota, set_quota
from tests.support.statements import statements_of
from zoe_client import Conflict
from zoe_client.wire import SubmitRequest
from zoe_client.wire.executions.executions import BATCH_MAX
from zoe_lib.domain.applications.sharing import Visibility

PATH = "/api/v1/executions:batch"


def batch(number: int, command: str = "true") -> list[SubmitRequest]:
    return [SubmitRequest(application=job(command), name=f"number {index}") for index in range(number)]


def body(number: int) -> dict[str, Any]:
    return {"executions": [request.model_dump() for request in batch(number)]}


def stored(api: Api) -> list[str]:
    return [execution.name for execution in reversed(api.client().executions(limit=200).executions)]


def test_all_are_queued_in_their_order(api: Api) -> None:
    answer = api.client().submit_batch(batch(3))
    assert stored(api) == [execution.name for execution in answer.executions] == ["number 0", "number 1", "number 2"]
    assert [execution.id for execution in answer.executions] == answer.ids
    assert [entry.execution_id for entry in api.store.journal(0, 10)] == answer.ids
    [entry] = [entry for entry in api.store.accounts.audit(None, 10) if entry.action == "submit_batch"]
    assert (entry.target, entry.status) == (PATH, 201)


def test_a_batch_takes_as_many_statements_as_one(api: Api) -> None:
    """Of the store's own, with and without a key; looked up are the same things for all."""
    client = api.client()
    client.submit_batch(batch(1))
    counts = set()
    for number, headers in itertools.product((1, 50), ({}, {"Idempotency-Key": "again"})):
        key = {name: f"{value} {number}" for name, value in headers.items()}
        with statements_of(api.store) as asked:
            assert api.http().post(PATH, json=body(number), headers=key).status_code == 201
        counts.add(len(asked))
    assert len(counts) == 1


def test_one_that_is_refused_refuses_all_and_is_named(api: Api) -> None:
    bad = body(4)
    bad["executions"][1]["application"] = {"version": 4, "name": "no components"}
    bad["executions"][3]["application"] = {**job(), "colour": "red"}
    refusal = problem(api.http().post(PATH, json=bad))
    assert refusal["code"] == "invalid_description"
    assert refusal["detail"] == "none of the batch was accepted, because 2 of its executions cannot be"
    assert {"/executions/1", "/executions/3"} == {"/".join(e["pointer"].split("/")[:3]) for e in refusal["errors"]}
    assert "/executions/3/colour" in [error["pointer"] for error in refusal["errors"]]
    assert stored(api) == []


def test_a_quota_that_some_do_not_fit_in_refuses_all(api: Api) -> None:
    set_quota(api.store, "red", Quota(executions_max=2))
    refusal = problem(api.http().post(PATH, json=body(3)))
    assert (refusal["code"], refusal["status"]) == ("quota_exceeded", 429)
    assert [error["pointer"] for error in refusal["errors"]] == ["/executions/2"]
    assert stored(api) == []
    assert api.store.journal(0, 10, Visibility("red")) == []
    assert len(api.client().submit_batch(batch(2)).ids) == 2


def test_the_key_is_that_of_the_whole(api: Api) -> None:
    client = api.client()
    single = client.submit(job(), idempotency_key="key")
    first = client.submit_batch(batch(3), idempotency_key="key")
    assert single.id not in first.ids
    client.cancel(first.ids[0])
    again = client.submit_batch(batch(3), idempotency_key="key")
    assert again.ids == first.ids
    assert again.executions[0].state == "cancelled"
    for other in (batch(3, "false"), batch(2), batch(4)):
        with pytest.raises(Conflict) as refused:
            client.submit_batch(other, idempotency_key="key")
        assert refused.value.problem.code == "idempotency_conflict"
    assert len(stored(api)) == 4


def test_many_at_once_with_one_key_make_one_batch(api: Api) -> None:
    clients = [api.client() for _ in range(8)]
    answers = in_threads(8, lambda index: clients[index].submit_batch(batch(5), idempotency_key="once").ids)
    assert len({tuple(ids) for ids in answers}) == 1
    assert len(stored(api)) == 5


def test_batches_of_other_sizes_with_one_key_at_once_are_never_mixed(api: Api) -> None:
    def send(index: int) -> int:
        return api.http().post(PATH, json=body(1 + index), headers={"Idempotency-Key": "once"}).status_code

    statuses = in_threads(6, send)
    assert sorted(statuses) == [201, 409, 409, 409, 409, 409]
    assert len(stored(api)) == 1 + statuses.index(201)


@pytest.mark.parametrize("number", [0, BATCH_MAX + 1])
def test_its_size_is_bounded(api: Api, number: int) -> None:
    assert problem(api.http().post(PATH, json=body(number)))["code"] == "invalid_request"


def test_a_client_that_prefers_little_gets_little(api: Api) -> None:
    """No body for one, the ids for a batch; the answer says that this was meant."""
    http = api.http()
    http.headers["Prefer"] = 'respond-async, Return="minimal"; foo=1'
    one = http.post("/api/v1/executions", json={"application": job()})
    assert (one.status_code, one.content, one.headers["Preference-Applied"]) == (201, b"", "return=minimal")
    assert http.get(one.headers["Location"]).headers["ETag"] == one.headers["ETag"]
    several = http.post(PATH, json=body(2))
    assert several.headers["Preference-Applied"] == "return=minimal"
    assert several.json()["executions"] == []
    assert len(several.json()["ids"]) == 2
    del http.headers["Prefer"]
    assert "Preference-Applied" not in http.post(PATH, json=body(1)).headers
