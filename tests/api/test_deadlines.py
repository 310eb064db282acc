"""Deadlines through the API: notations, notes, and filters of lists."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from tests.api.test_workflows import step, workflow
from tests.support.api import Api, problem
from tests.support.documents import job
from tests.support.master import TickingMaster
from tests.support.people import make_token
from tests.support.waiting import until
from zoe_client import Client, wire
from zoe_client.vocabulary import DeadlineCause, DeadlineOutlook, DeadlineStatus, ExecutionState
from zoe_client.words.times import BadTime
from zoe_master.backends.simulated import ServiceBehaviour

LONG = job(size={"run_time_s": 4000})


def iso(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat()


def test_a_text_is_read_by_the_server(api: Api) -> None:
    made = api.http().post("/api/v1/executions", json={"application": job(), "deadline": "08:00 Europe/Paris"})
    assert made.status_code == 201, made.text
    at_s = made.json()["deadline_s"]
    assert 0 < at_s - time.time() <= 25 * 3600
    assert made.json()["deadline"] == {
        **{"at_s": at_s, "status": None, "cause": None, "costs_s": {}, "expected_run_s": None},
    }
    later = api.client().submit(job(), deadline="+1d2h")
    assert later.deadline_s == pytest.approx(time.time() + 93_600, abs=10)
    with pytest.raises(BadTime):
        api.client().submit(job(), deadline="soon")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"deadline": "08:00"}, "needs a time zone"),
        ({"deadline": "soon"}, "not a time"),
        ({"deadline": "2020-01-01T00:00Z"}, "has passed: it was 2020-01-01 00:00:00 UTC"),
        ({"deadline": "+3h", "deadline_s": 60}, "not both"),
        ({"deadline": "08:00 ../../etc/passwd"}, "is not a time"),
        ({"deadline": "9" * 1000}, ""),
        ({"deadline": 5}, ""),
    ],
)
def test_invalid_deadline_is_refused_everywhere(shared_api: Api, fields: dict[str, object], said: str) -> None:
    http = shared_api.http()
    for path, body in [
        ("executions", {"application": job(), **fields}),
        ("arrays", {"application": job(), "indices": "0-3", **fields}),
        ("plan", {"application": job(), **fields}),
        ("executions:batch", {"executions": [{"application": job()}, {"application": job(), **fields}]}),
    ]:
        refusal = http.post(f"/api/v1/{path}", json=body)
        assert refusal.status_code == 422, (path, refusal.text)
        assert said in str(problem(refusal)["errors"]), (path, refusal.text)
        if path == "executions:batch":
            assert "/executions/1" in problem(refusal)["errors"][0]["pointer"]
    assert shared_api.client().executions().executions == []


def test_a_repeated_request_is_the_same_after_its_deadline(api: Api) -> None:
    body = {"application": job(), "deadline": iso(time.time() + 1.0)}
    headers = {"Idempotency-Key": "same"}
    first = api.http().post("/api/v1/executions", json=body, headers=headers)
    assert first.status_code == 201, first.text
    until(lambda: time.time() > first.json()["deadline_s"])
    again = api.http().post("/api/v1/executions", json=body, headers=headers)
    assert (again.status_code, again.json()["id"]) == (201, first.json()["id"])
    other = api.http().post("/api/v1/executions", json={**body, "deadline": "+1h"}, headers=headers)
    assert other.status_code == 409


def test_unmeetable_deadline_is_accepted_with_a_warning(api: Api) -> None:
    made = api.client().submit(LONG, deadline="+30s")
    (note,) = made.notes
    assert "cannot be met: earliest end " in note
    array = api.client().arrays.submit(LONG, "0-9", deadline="+30s")
    assert any("cannot be met" in text for text in api.client().arrays.array(array.id).notes)
    assert api.client().submit(LONG, deadline="+2h").notes == []
    notes = api.client().validate({**LONG, "deadline_s": 30}).notes
    assert any("cannot be met" in text for text in notes)
    (unknown,) = api.client().validate({**job(), "deadline_s": 30}).notes
    assert "declares no run time" in unknown


def test_a_plan_compares_the_forecast_of_the_end(api: Api, master: TickingMaster) -> None:
    client = api.client()
    until(lambda: master.master.latest)
    assert client.plan(LONG).deadline is None
    wanted = [("+30s", "cannot_be_met"), ("+2h", "at_risk"), ("+1d", "met")]
    for text, outlook in wanted:
        found = client.plan(LONG, deadline=text).deadline
        assert found is not None
        assert (found.outlook, found.run_s, found.run_time_source) == (outlook, 4000.0, "declared")
        assert found.end_p50_s is not None
        assert found.end_p90_s is not None
        assert found.end_p50_s <= found.end_p90_s
    unknown = client.plan({**job(), "deadline_s": 30}).deadline
    assert unknown is not None
    assert (unknown.outlook, unknown.end_p50_s) == (DeadlineOutlook.UNKNOWN, None)
    limited = client.plan({**job(), "time_limit_s": 50}, deadline="+1h").deadline
    assert limited is not None
    assert limited.outlook is DeadlineOutlook.MET, "it ends by its time limit"
    assert client.plan({**job(), "time_limit_s": 5000}, deadline="+1h").deadline.outlook == "unknown"  # type: ignore[union-attr]


def test_misses_are_listed_to_those_who_see_them(api: Api, master: TickingMaster) -> None:
    client = api.client()
    master.behaviours["main"] = ServiceBehaviour(run_s=0.2)
    kept = client.submit(job(), deadline="+1h")
    assert client.wait(kept.id, 20).state is ExecutionState.SUCCEEDED
    master.behaviours["main"] = ServiceBehaviour(run_s=1e6)
    missed = client.submit(LONG, deadline="+1s")
    risky = client.submit(LONG, deadline="+1h")

    def listed(status: DeadlineStatus, by: Client = client) -> list[str]:
        return [execution.id for execution in by.executions(deadline=status).executions]

    until(lambda: listed(DeadlineStatus.MISSED) == [missed.id])
    assert listed(DeadlineStatus.MET) == [kept.id]
    assert listed(DeadlineStatus.AT_RISK) == [risky.id]
    shown = client.execution(missed.id).deadline
    assert shown is not None
    assert (shown.status, shown.cause, shown.expected_run_s) == ("missed", DeadlineCause.TOO_SHORT, 4000.0)
    assert client.explain(missed.id).deadline == shown
    bob = api.client(make_token(api.store, "bob"))
    assert listed(DeadlineStatus.MISSED, bob) == []
    bad = api.http().get("/api/v1/executions", params={"deadline": "nonsense"})
    assert problem(bad)["code"] == "invalid_request"


def test_a_deadline_is_changed_while_it_waits(api: Api) -> None:
    client = api.client()
    waiting = client.submit(job(), hold=True, deadline="+1h")
    changed = client.modify(waiting.id, wire.ModifyRequest(deadline="+2h"))
    assert changed.deadline_s == pytest.approx(time.time() + 7200, abs=10)
    assert client.modify(waiting.id, wire.ModifyRequest(deadline_s=None)).deadline_s is None
    past = api.http().patch(f"/api/v1/executions/{waiting.id}", json={"deadline": "2020-01-01T00:00Z"})
    assert (past.status_code, problem(past)["errors"][0]["pointer"]) == (422, "/deadline")


def test_steps_of_a_workflow_miss_the_deadline_of_the_whole(api: Api, master: TickingMaster) -> None:
    client = api.client()
    made = client.workflows.run(workflow(step("first"), step("second", "first"), deadline_s=1.5))
    found = client.wait_for_workflow(made.id, 30)
    executions = client.executions(deadline=DeadlineStatus.MISSED).executions
    assert {execution.name for execution in executions} >= {
        execution.name for execution in executions if execution.cause == "time_limit"
    }
    assert len(executions) == 2, found
    for execution in executions:
        kinds = [entry.kind for entry in api.store.journal(0, 1000, execution_id=execution.id)]
        assert kinds.count("deadline_missed") == 1


def test_a_description_says_a_time_that_is_the_next_one_at_each_submission(api: Api) -> None:
    client, http, now_s = api.client(), api.http(), time.time()
    own = client.submit({**job(), "deadline": "+3h"})
    assert own.deadline_s == pytest.approx(now_s + 10_800, abs=10)
    instead = client.submit({**job(), "deadline": "+3h"}, deadline="+1h")
    assert instead.deadline_s == pytest.approx(now_s + 3600, abs=10)
    assert client.submit({**job(), "deadline": "+3h"}, deadline_s=60).deadline_s == pytest.approx(now_s + 60, abs=10)
    at_s = int(time.time() + 5)
    clock = f"{datetime.fromtimestamp(at_s, UTC):%H:%M:%S} UTC"
    stored = http.put("/api/v1/applications/daily", json={"document": {**job(), "deadline": clock}})
    assert stored.status_code == 200, stored.text
    found = []
    for wait_until_s in (0.0, at_s + 1):
        time.sleep(max(0.0, wait_until_s - time.time()))
        made = http.post("/api/v1/applications/daily/dispatch", json={})
        assert made.status_code == 201, made.text
        found.append(client.execution(made.json()["id"]).deadline_s)
    assert found == [at_s, at_s + 86_400]
    (note,) = client.validate({**LONG, "deadline": "+30s"}).notes
    assert "cannot be met" in note
    (unknown,) = client.validate({**job(), "deadline": "+30s"}).notes
    assert "declares no run time" in unknown
    passed = http.post("/api/v1/executions", json={"application": {**job(), "deadline": "2020-01-01T00:00Z"}})
    assert (passed.status_code, problem(passed)["errors"][0]["pointer"]) == (422, "/deadline")


@pytest.mark.parametrize("text", ["2020-01-01T00:00Z", "+0h"])
def test_a_deadline_that_has_passed_is_told_by_a_check_as_by_a_submission(shared_api: Api, text: str) -> None:
    document = {**job(), "deadline": text}
    http = shared_api.http()
    for path in ("validate", "plan", "executions"):
        refusal = http.post(f"/api/v1/{path}", json={"application": document})
        assert refusal.status_code == 422, (path, refusal.text)
        (error,) = problem(refusal)["errors"]
        assert error["pointer"] == "/deadline"


def test_a_plan_compares_with_the_deadline_of_the_description(api: Api, master: TickingMaster) -> None:
    until(lambda: master.master.latest)
    found = api.client().plan({**LONG, "deadline": "+30s"}).deadline
    assert found is not None
    assert found.outlook is DeadlineOutlook.CANNOT_BE_MET


def test_the_earliest_deadline_of_a_workflow_and_its_step_counts(api: Api) -> None:
    client, now_s = api.client(), time.time()
    steps = (step("first", deadline="+1h"), step("second", "first", deadline_s=60), step("third", "first"))
    made = client.workflows.run(workflow(*steps, deadline="+2h"))
    ends = {execution.name: client.execution(execution.id).deadline_s for execution in client.executions().executions}
    assert made.steps_total == 3
    for name, after_s in (("first", 3600), ("second", 60), ("third", 7200)):
        assert ends[name] == pytest.approx(now_s + after_s, abs=10)
    document = workflow(step("first"), step("late", deadline="2020-01-01T00:00Z"))
    refused = api.http().post("/api/v1/workflows", json={"document": document})
    assert (refused.status_code, problem(refused)["errors"][0]["pointer"]) == (422, "/steps/1/deadline")
    assert "has passed" in problem(refused)["detail"]
    own = {"name": "own", "application": {**job(), "deadline": "+30m"}}
    client.workflows.run(workflow(own, deadline="+2h", name="wishes"))
    [wishing] = client.executions(name="own").executions
    assert client.execution(wishing.id).deadline_s == pytest.approx(now_s + 1800, abs=10)
    own["application"] = {**job(), "deadline": "2020-01-01T00:00Z"}
    refused = api.http().post("/api/v1/workflows", json={"document": workflow(own)})
    assert (refused.status_code, problem(refused)["errors"][0]["pointer"]) == (422, "/steps/0/application/deadline")
