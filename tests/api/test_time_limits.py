"""How long an execution may run, by the quota of its tenant."""

from __future__ import annotations

import httpx
import pytest

from tests.support.api import Api, problem
from tests.support.documents import job
from tests.support.limits import Quota, set_quota
from tests.support.people import make_token
from tests.support.waiting import until
from zoe_client import Client, Refused
from zoe_client.wire import SubmitRequest
from zoe_client.wire.people.people import TIME_LIMIT_S_MAX
from zoe_lib.descriptions.bounds import SECONDS_MAX

NOTE = "no time limit is set: it gets the longest that red may have, 43200 s (12 h)"
TOO_LONG = "the time limit is 86400 s (24 h); the maximum for red is 43200 s (12 h)"


@pytest.fixture
def bounded(api: Api) -> Client:
    """A user of a tenant whose executions run for twelve hours at most."""
    api.client(api.admin).admin.set_quota("red", None, None, 43_200.0)
    return api.client()


def test_default_time_limit_is_the_quotas_maximum_with_a_note(bounded: Client) -> None:
    given = bounded.submit(job())
    assert (given.description["time_limit_s"], given.notes) == (43_200, [NOTE])
    assert bounded.execution(given.id) == given
    shorter = bounded.submit(job(time_limit_s=60))
    assert (shorter.description["time_limit_s"], shorter.notes) == (60, [])


def test_policy_gives_a_default_to_every_submission_without_one(api: Api) -> None:
    admin, client = api.client(api.admin), api.client()
    admin.set_policy(admin.policy().model_copy(update={"default_time_limit_s": 600.0}))
    note = "no time limit is set: it gets the default, 600 s (0.166667 h)"
    given = client.submit(job())
    assert (given.description["time_limit_s"], given.notes) == (600, [note])
    assert client.execution(given.id) == given
    (in_batch,) = client.submit_batch([SubmitRequest(application=job())]).executions
    array = client.arrays.array(client.arrays.submit(job(), "0-3").id)
    assert client.execution(in_batch.id).description["time_limit_s"] == array.description["time_limit_s"] == 600
    assert client.submit(job(time_limit_s=60)).description["time_limit_s"] == 60
    admin.admin.set_quota("red", None, None, 300.0)
    assert client.submit(job()).description["time_limit_s"] == 300


def test_a_longer_one_is_refused_with_both_figures_and_loses_nothing(api: Api, bounded: Client) -> None:
    headers = {"Idempotency-Key": "one"}

    def submit(time_limit_s: float) -> httpx.Response:
        return api.http().post(
            "/api/v1/executions", json={"application": job(time_limit_s=time_limit_s)}, headers=headers
        )

    told = problem(submit(86_400))
    assert (told["code"], told["detail"]) == ("time_limit_too_long", TOO_LONG)
    assert [entry["pointer"] for entry in told["errors"]] == ["/time_limit_s"]
    assert bounded.executions().executions == []
    assert submit(43_200).status_code == 201  # the key was not used up
    entries = api.client(api.admin).admin.audit().entries
    assert [(entry.action, entry.status) for entry in entries] == [
        ("submit_execution", 201),
        ("submit_execution", 422),
        ("set_quota", 200),
    ]


def test_a_plan_and_a_check_say_the_same_before(api: Api, bounded: Client) -> None:
    api.start_master()
    until(lambda: api.store.platform() != [])
    checked, planned = bounded.validate(job()), bounded.plan(job())
    assert (checked.expanded["time_limit_s"], checked.notes) == (43_200, [NOTE])
    assert (planned.demand.time_limit_s, planned.notes) == (43_200, [NOTE])
    for ask in (bounded.validate, bounded.plan, bounded.submit):
        with pytest.raises(Refused) as refused:
            ask(job(time_limit_s=86_400))
        assert (refused.value.problem.code, refused.value.problem.detail) == ("time_limit_too_long", TOO_LONG)
    assert bounded.validate(job(time_limit_s=60)).notes == bounded.plan(job(time_limit_s=60)).notes == []
    other = api.client(make_token(api.store, "eve", "blue"))
    assert other.plan(job(time_limit_s=86_400)).notes == other.validate(job()).notes == []


def test_the_catalogue_asks_for_no_more_than_the_own_tenant_may_have(api: Api) -> None:
    client = api.client()

    def limits() -> list[float]:
        listed = next(entry for entry in client.catalogue().entries if entry.id == "batch").document["time_limit_s"]
        filled = api.http().post("/api/v1/catalogue/batch/fill", json={}).json()["document"]["time_limit_s"]
        return [listed, filled]

    assert limits() == [3600, 3600]
    set_quota(api.store, "red", Quota(time_limit_s_max=1800.0))
    assert limits() == [1800, 1800]
    set_quota(api.store, "red", Quota(time_limit_s_max=7200.0))
    assert limits() == [3600, 3600]


def test_new_quota_spares_waiting_executions_but_not_clones(api: Api) -> None:
    client = api.client()
    before = client.submit(job(time_limit_s=86_400))
    set_quota(api.store, "red", Quota(time_limit_s_max=43_200.0))
    assert client.execution(before.id) == before
    with pytest.raises(Refused, match="the time limit is 86400 s"):
        client.submit(before.description)
    given = client.submit(job())
    set_quota(api.store, "red", Quota(time_limit_s_max=3600.0))
    assert client.execution(given.id) == given
    with pytest.raises(Refused, match=r"is 43200 s \(12 h\); the maximum for red is 3600 s \(1 h\)"):
        client.submit(given.description)


def test_repeated_submission_is_accepted_under_a_new_quota(api: Api) -> None:
    client = api.client()
    first = client.submit(job(time_limit_s=86_400), idempotency_key="one")
    set_quota(api.store, "red", Quota(time_limit_s_max=43_200.0))
    assert client.submit(job(time_limit_s=86_400), idempotency_key="one") == first


def test_a_quota_of_time_is_one_that_a_description_may_have(api: Api) -> None:
    """The longest is given to executions without one, and must be stored as a description."""
    http = api.http(api.admin)
    for wrong in (0, -1, TIME_LIMIT_S_MAX + 1):
        body = {"executions_max": None, "time_limit_s_max": wrong}
        assert problem(http.put("/api/v1/admin/tenants/red/quota", json=body))["code"] == "invalid_request"
    assert TIME_LIMIT_S_MAX == SECONDS_MAX
    admin = api.client(api.admin).admin
    assert admin.set_quota("red", None, None, TIME_LIMIT_S_MAX).time_limit_s_max == TIME_LIMIT_S_MAX
    assert [tenant.time_limit_s_max for tenant in admin.tenants().tenants] == [TIME_LIMIT_S_MAX]
    assert api.client().submit(job()).description["time_limit_s"] == TIME_LIMIT_S_MAX
    assert admin.set_quota("red", None).time_limit_s_max is None
    assert api.client().submit(job()).notes == []
