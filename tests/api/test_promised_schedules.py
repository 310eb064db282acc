"""Schedules whose runs are promised: each as a whole, and decided before its time."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from tests.api.test_schedules import STEPS, Leader, add, outcomes, show
from tests.support.api import Api, problem
from tests.support.documents import job
from zoe_lib.store.values import ExecutionQuery

SCHEDULES = "/api/v1/schedules"
HOUR = 3600.0
TOMORROW = {"expression": "30 2 * * *", "zone": "Europe/Paris"}


@pytest.fixture
def leader(api: Api) -> Leader:
    return Leader(api)


def made(http: httpx.Client, name: str = "nightly") -> tuple[str, dict[str, Any]]:
    """The id of the last run, and what came of the schedule."""
    found = show(http, name)
    assert found["runs"], found
    return str(found["runs"][0]["run_id"]), found


def test_a_run_is_submitted_ahead_and_begins_at_its_time(api: Api, http: httpx.Client, leader: Leader) -> None:
    added = add(http, **TOMORROW, ahead_s=6 * HOUR, finish_by="08:00 Europe/Paris", confidence=0.95, budget=12)
    due_s = added["due_s"]
    assert added["next_at_s"] == due_s, "when it begins"
    leader.look(due_s - 6 * HOUR - 1)
    assert outcomes(http) == []
    leader.look(due_s - 6 * HOUR)
    run_id, found = made(http)
    assert (found["due_s"], found["runs"][0]["due_s"]) == (due_s + 24 * HOUR, due_s)
    execution = api.store.execution(run_id)
    assert execution.conditions.begin_at_s == due_s
    assert execution.application.promise is not None
    assert execution.application.promise.confidence == 0.95
    assert float(execution.application.promise.budget or 0) == 12.0
    assert execution.deadline_s == due_s + 5.5 * HOUR, "08:00 of the morning of its time, not the next one after now"
    leader.look(due_s)
    assert outcomes(http) == ["made"], "once"


def test_seconds_and_hours_count_from_its_time(api: Api, http: httpx.Client, leader: Leader) -> None:
    added = add(http, **TOMORROW, ahead_s=6 * HOUR, finish_by="+3h")
    leader.look(added["due_s"] - HOUR)
    assert api.store.execution(made(http)[0]).deadline_s == added["due_s"] + 3 * HOUR


def test_a_workflow_is_promised_as_a_whole(api: Api, http: httpx.Client, leader: Leader) -> None:
    added = add(http, **TOMORROW, document=STEPS, ahead_s=HOUR, finish_by="+3h")
    leader.look(added["due_s"] - HOUR)
    run_id, _ = made(http)
    assert run_id.startswith("w")
    steps = api.store.executions(ExecutionQuery(limit=10)).executions
    assert [step.conditions.whole for step in steps] == [run_id, run_id]
    assert {step.conditions.begin_at_s for step in steps} == {None, added["due_s"]}, "the first step begins then"
    assert {step.deadline_s for step in steps} == {added["due_s"] + 3 * HOUR}
    assert http.get(f"/api/v1/workflows/{run_id}").raise_for_status().json()["promise"] is not None


def test_an_array_is_promised_as_a_whole(api: Api, http: httpx.Client, leader: Leader) -> None:
    added = add(http, **TOMORROW, indices="0-3%2", finish_by="+3h")
    leader.look(added["due_s"])
    array = api.store.array(made(http)[0])
    assert array.application.promise is not None
    assert array.deadline_s is not None


@pytest.mark.parametrize("overlap", ["skip", "queue", "replace"])
def test_an_earlier_run_must_be_able_to_end_before_the_next_is_submitted(http: httpx.Client, overlap: str) -> None:
    body = {"expression": "@hourly", "document": job("true", name="nightly"), "ahead_s": 2 * HOUR, "overlap": overlap}
    refused = problem(http.put(f"{SCHEDULES}/nightly", json=body))
    assert refused["code"] == "invalid_schedule"
    assert refused["errors"][0]["pointer"] == "/ahead_s"
    assert "3600 s apart" in refused["detail"]


def test_jitter_may_bring_a_run_close_to_the_next(http: httpx.Client) -> None:
    body = {"expression": "@hourly", "document": job("true", name="nightly"), "overlap": "replace", "jitter_s": 3000.0}
    refused = problem(http.put(f"{SCHEDULES}/nightly", json={**body, "ahead_s": 600.0}))
    assert "600 s apart" in refused["detail"]
    http.put(f"{SCHEDULES}/nightly", json={**body, "ahead_s": 500.0}).raise_for_status()
    http.put(f"{SCHEDULES}/nightly", json={**body, "jitter_s": 7200.0}).raise_for_status()


def test_a_priority_of_zero_is_one(api: Api, http: httpx.Client, leader: Leader) -> None:
    """It stands against that of the description, as any other."""
    document = {**job("true", name="nightly"), "priority": 7}
    added = add(http, **TOMORROW, document=document, priority=0)
    leader.look(added["due_s"])
    assert api.store.execution(made(http)[0]).priority == 0


def test_few_runs_wait_at_once(http: httpx.Client, leader: Leader) -> None:
    body = {"expression": "@hourly", "document": job("true", name="nightly"), "overlap": "allow"}
    refused = problem(http.put(f"{SCHEDULES}/nightly", json={**body, "ahead_s": 24 * HOUR}))
    assert "more than 10 of its runs would wait at once" in refused["detail"]
    http.put(f"{SCHEDULES}/nightly", json={**body, "ahead_s": 5 * HOUR}).raise_for_status()
    now_s = time.time()
    for _ in range(8):
        leader.look(now_s)
    assert outcomes(http) == ["made"] * 5


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        ({"confidence": 0.9}, "need finish_by"),
        ({"budget": 3}, "need finish_by"),
        ({"finish_by": "+3h", "deadline": "+2h"}, "not both"),
        ({"finish_by": "sometime"}, "is not a time"),
        ({"finish_by": "+3h", "confidence": 0.2}, "must be at least 0.5"),
    ],
)
def test_wishes_that_cannot_be(shared_http: httpx.Client, wish: dict[str, Any], why: str) -> None:
    answer = shared_http.put(f"{SCHEDULES}/nightly", json={**TOMORROW, "document": job("true", name="nightly"), **wish})
    assert answer.status_code == 422
    assert why in answer.text
