"""The same request again, and changes that meet: idempotency keys, ETags."""

from __future__ import annotations

import time

import pytest

from tests.support.api import Api, in_threads, problem
from tests.support.documents import job
from tests.support.people import make_token
from zoe_client import Conflict, NeverFits
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.values.resources import Resources


def test_the_same_key_and_body_give_the_same_execution(api: Api) -> None:
    client = api.client()
    first = client.submit(job(), name="a", idempotency_key="key")
    client.cancel(first.id)
    again = client.submit(job(), name="a", idempotency_key="key")
    assert (again.id, again.state) == (first.id, "cancelled")
    assert len(client.executions().executions) == 1


def test_repeated_submission_is_answered_though_nodes_went_away(api: Api) -> None:
    client = api.client()
    first = client.submit(job(), idempotency_key="key")
    api.store.set_platform([Node("tiny", Resources(1, 1))], time.time(), None)
    with pytest.raises(NeverFits):
        client.submit(job(), idempotency_key="another")
    assert client.submit(job(), idempotency_key="key").id == first.id


def test_the_same_key_with_another_body_is_a_conflict(api: Api) -> None:
    client = api.client()
    client.submit(job(), idempotency_key="key")
    with pytest.raises(Conflict) as refused:
        client.submit(job("echo"), idempotency_key="key")
    assert refused.value.problem.code == "idempotency_conflict"


def test_keys_are_a_tenants_own(api: Api) -> None:
    other = api.client(make_token(api.store, "bob", "blue"))
    assert api.client().submit(job(), idempotency_key="k").id != other.submit(job(), idempotency_key="k").id


def test_an_empty_key_is_none(api: Api) -> None:
    response = api.http().post("/api/v1/executions", json={"application": job()}, headers={"Idempotency-Key": ""})
    assert problem(response)["code"] == "invalid_request"


def test_many_at_once_with_one_key_make_one_execution(api: Api) -> None:
    clients = [api.client() for _ in range(12)]
    ids = in_threads(12, lambda index: clients[index].submit(job(), idempotency_key="once").id)
    assert len(set(ids)) == 1
    assert len(api.client().executions().executions) == 1


def test_many_at_once_with_different_bodies_make_one_and_conflicts(api: Api) -> None:
    clients = [api.client() for _ in range(8)]

    def submit(index: int) -> str:
        try:
            return clients[index].submit(job("echo", str(index)), idempotency_key="once").id
        except Conflict as refused:
            return refused.problem.code

    answers = in_threads(8, submit)
    assert sorted(answers)[:7] == ["idempotency_conflict"] * 7
    assert len(api.client().executions().executions) == 1


def test_a_cancellation_can_be_bound_to_what_was_seen(api: Api) -> None:
    http = api.http()
    made = http.post("/api/v1/executions", json={"application": job()})
    path, tag = made.headers["location"], made.headers["etag"]
    assert http.get(path).headers["etag"] == tag
    assert problem(http.post(f"{path}/cancel", headers={"If-Match": '"17"'}))["code"] == "version_mismatch"
    assert http.get(path).json()["state"] == "submitted"
    cancelled = http.post(f"{path}/cancel", headers={"If-Match": f'"17", {tag}'})
    assert cancelled.json()["state"] == "cancelled"
    assert cancelled.headers["etag"] != tag
    assert http.post(f"{path}/cancel", headers={"If-Match": "*"}).status_code == 200
    assert problem(http.post(f"{path}/cancel", headers={"If-Match": tag}))["status"] == 412


def test_the_policy_changes_only_from_what_was_read(api: Api) -> None:
    admin = api.client(api.admin)
    read = admin.policy()
    stored = admin.set_policy(read.model_copy(update={"order": "size"}))
    assert (stored.order, stored.version) == ("size", read.version + 1)
    with pytest.raises(Conflict) as refused:
        admin.set_policy(read)
    assert refused.value.problem.code == "version_mismatch"
    assert admin.policy() == stored


def test_two_admins_at_once_do_not_overwrite_each_other(api: Api) -> None:
    admins = [api.client(api.admin) for _ in range(6)]
    read = admins[0].policy()

    def change(index: int) -> str:
        try:
            admins[index].set_policy(read.model_copy(update={"ageing_s": float(index + 1)}))
        except Conflict:
            return "conflict"
        return "stored"

    assert sorted(in_threads(6, change)) == ["conflict"] * 5 + ["stored"]
    assert admins[0].policy().version == read.version + 1


def test_the_key_is_looked_up_before_the_description_is_read(api: Api) -> None:
    """A known key is answered alike, regardless of the present checks of the description."""
    first = api.client().submit(job(), idempotency_key="key")
    headers = {"Idempotency-Key": "key"}
    body = {"application": job(), "name": None, "priority": None, "deadline_s": None}
    api.store.set_platform([Node("tiny", Resources(1, 1))], time.time(), None)
    again = api.http().post("/api/v1/executions", json=body, headers=headers)
    assert (again.status_code, again.json()["id"]) == (201, first.id)
    assert again.headers["Location"] == f"/api/v1/executions/{first.id}"
    other = api.http().post("/api/v1/executions", json={"application": {"not": "one"}}, headers=headers)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_conflict")
