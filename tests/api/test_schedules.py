"""Stored applications and schedules over the real API, with what the leader does at their times."""

from __future__ import annotations

import copy
import threading
import time
from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
from sqlalchemy import Connection

from tests.support.api import Api, in_threads, problem
from tests.support.documents import Document, job, part
from tests.support.limits import Quota, set_quota
from tests.support.manual_clock import ManualClock
from tests.support.people import ALL_SCOPES, make_token
from zoe_lib.schedules.values import Schedule
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.sql.batch import schedules as rows
from zoe_lib.submission.place import LeaderPlace
from zoe_master.background.schedule_thread import AT_ONCE_MAX, ScheduleThread, look

APPS, SCHEDULES = "/api/v1/applications", "/api/v1/schedules"
HOUR = 3600.0
REPORT: Document = {
    **job("sh", "-c", "report {param:day} {param:rows} {{literal}}", name="report"),
    "params": {"day": {"default": "monday"}, "rows": {"type": "integer", "default": 5}},
}
STEPS: Document = {
    "version": 1,
    "name": "steps",
    "params": {"day": {"default": "monday"}},
    "steps": [
        {"name": "first", "image": "zoe/tiny", "command": ["true", "{param:day}"]},
        {"name": "second", "image": "zoe/tiny", "command": ["true"], "needs": ["first"]},
    ],
}


def put(http: httpx.Client, name: str = "report", document: Document | None = None, **query: Any) -> dict[str, Any]:
    answer = http.put(f"{APPS}/{name}", json={"document": document or REPORT}, params=query)
    answer.raise_for_status()
    return dict(answer.json())


def dispatch(http: httpx.Client, name: str = "report", key: str | None = None, **body: Any) -> dict[str, Any]:
    headers = {} if key is None else {"Idempotency-Key": key}
    answer = http.post(f"{APPS}/{name}/dispatch", json=body, headers=headers)
    answer.raise_for_status()
    return dict(answer.json())


def add(http: httpx.Client, name: str = "nightly", **body: Any) -> dict[str, Any]:
    what = {} if "application" in body else {"document": job("true", name="nightly")}
    answer = http.put(f"{SCHEDULES}/{name}", json={"expression": "0 * * * *", **what, **body})
    answer.raise_for_status()
    return dict(answer.json())


def show(http: httpx.Client, name: str = "nightly") -> dict[str, Any]:
    return dict(http.get(f"{SCHEDULES}/{name}").raise_for_status().json())


def outcomes(http: httpx.Client, name: str = "nightly") -> list[str]:
    """Oldest first."""
    return [run["outcome"] for run in show(http, name)["runs"]][::-1]


class Leader:
    """What the leader does for schedules at moments that the test names."""

    def __init__(self, api: Api) -> None:
        self.place, self.woken = LeaderPlace(api.settings, api.store), 0

    def look(self, now_s: float, since_s: float | None = None) -> bool:
        return look(self.place, now_s, self._wake, since_s=since_s)

    def _wake(self) -> None:
        self.woken += 1


@pytest.fixture
def leader(api: Api) -> Leader:
    return Leader(api)


def command_of(store: PostgresStore, execution_id: str) -> str:
    return store.execution(execution_id).application.components[0].command[-1]


def test_an_application_runs_with_its_parameters(api: Api, http: httpx.Client) -> None:
    assert put(http)["version"] == 1
    plain, given = dispatch(http), dispatch(http, parameters={"day": "{friday}", "rows": "7"})
    assert plain["kind"] == "execution"
    assert command_of(api.store, plain["id"]) == "report monday 5 {{literal}}"
    # A text that looks like a template in a value is not changed.
    assert command_of(api.store, given["id"]) == "report {{friday}} 7 {{literal}}"
    refused = http.post(f"{APPS}/report/dispatch", json={"parameters": {"rows": "many", "colour": "red"}})
    assert [entry["pointer"] for entry in problem(refused)["errors"]] == ["/params", "/params/rows"]


def test_versions_are_kept(api: Api, http: httpx.Client) -> None:
    put(http)
    assert put(http)["version"] == 1
    changed = {**REPORT, "components": [part("main", "sh", "-c", "other", ends_application=True)]}
    assert put(http, document=changed)["version"] == 2
    assert command_of(api.store, dispatch(http)["id"]) == "other"
    assert command_of(api.store, dispatch(http, version=1)["id"]).startswith("report")
    assert http.get(f"{APPS}/report").json()["versions"] == [2, 1]
    assert http.get(f"{APPS}/report", params={"version": 3}).status_code == 404
    for number in range(25):
        put(http, document=job("true", name=f"n{number}"))
    assert http.get(f"{APPS}/report").json()["versions"] == list(range(27, 7, -1))
    http.delete(f"{APPS}/report").raise_for_status()
    assert http.get(f"{APPS}/report").status_code == 404


@pytest.mark.parametrize("twice", ["execution", "array", "workflow"])
def test_the_same_key_runs_once(api: Api, http: httpx.Client, twice: str) -> None:
    put(http, document=STEPS if twice == "workflow" else REPORT)
    body = {"indices": "0-9%2"} if twice == "array" else {}
    found = in_threads(4, lambda _: dispatch(http, key="k", **body))
    assert {entry["id"] for entry in found} == {found[0]["id"]}
    assert found[0]["kind"] == twice
    # Also when the application has changed, or is gone.
    put(http, document=job("other"))
    assert dispatch(http, key="k", **body)["id"] == found[0]["id"]
    http.delete(f"{APPS}/report").raise_for_status()
    assert dispatch(http, key="k", **body)["id"] == found[0]["id"]
    other = http.post(f"{APPS}/report/dispatch", json={"name": "other"}, headers={"Idempotency-Key": "k"})
    assert problem(other)["code"] == "idempotency_conflict"


def test_invalid_document_is_refused_when_stored(http: httpx.Client) -> None:
    wrong = copy.deepcopy(REPORT)
    wrong["components"][0]["command"] = ["{param:dya}"]
    refused = problem(http.put(f"{APPS}/report", json={"document": wrong}))
    assert (refused["errors"][0]["pointer"], "day" in refused["errors"][0]["hint"]) == ("/components/0/command/0", True)
    # Where a parameter without a default stands, nothing can be checked before it runs.
    needs: Document = {**REPORT, "name": "{param:day}", "params": {"day": {}, "rows": {}}}
    put(http, document=needs)
    refused = problem(http.put(f"{APPS}/report", json={"document": {**needs, "components": []}}))
    assert [entry["pointer"] for entry in refused["errors"]] == ["/components"]
    assert "no value" in http.post(f"{APPS}/report/dispatch", json={}).text
    assert http.put(f"{APPS}/x", json={"document": {**REPORT, "params": {"day": {"type": "date"}}}}).status_code == 422
    assert http.put(f"{APPS}/x", json={"document": {"version": 4}}).status_code == 422
    assert http.put(f"{APPS}/a%20b", json={"document": REPORT}).status_code == 422


def test_a_workflow_under_conditions(api: Api, http: httpx.Client) -> None:
    put(http, "steps", STEPS)
    before = dispatch(http, "steps")
    after = dispatch(http, "steps", after=[f"any:{api.client().workflows.one(before['id']).graph[0].execution_id}"])
    first, second = api.client().workflows.one(after["id"]).graph
    assert len(api.store.execution(first.execution_id).conditions.after) == 1
    assert [dependency.on for dependency in api.store.execution(second.execution_id).conditions.after] == [
        first.execution_id
    ]
    assert problem(http.post(f"{APPS}/steps/dispatch", json={"priority": 3}))["code"] == "invalid_request"
    assert problem(http.post(f"{APPS}/steps/dispatch", json={"after": ["ok:x0"]}))["code"] == "invalid_request"


def test_applications_are_their_owners_or_the_tenants(api: Api, http: httpx.Client) -> None:
    put(http)
    bob, operator = (
        api.http(make_token(api.store, "bob")),
        api.http(make_token(api.store, "op", "red", "operator", ALL_SCOPES)),
    )
    other = api.http(make_token(api.store, "eve", "blue"))
    for person in (bob, operator, other):
        assert person.get(f"{APPS}/report").status_code == 404
        assert person.post(f"{APPS}/report/dispatch", json={}).status_code == 404
    assert bob.put(f"{APPS}/report", json={"document": REPORT}, params={"of_tenant": True}).status_code == 403
    put(operator, document=job("tenants"), of_tenant=True)
    assert command_of(api.store, dispatch(bob)["id"]) == "tenants"
    assert command_of(api.store, dispatch(http)["id"]).startswith("report")  # the own one comes first
    assert [entry["user"] for entry in http.get(APPS).json()["applications"]] == [None, "ada"]
    assert other.get(APPS).json()["applications"] == []


def test_a_schedule_runs_at_its_time(api: Api, http: httpx.Client, leader: Leader) -> None:
    put(http)
    made = add(http, application="report", parameters={"day": "friday"}, run_name="hourly report", zone="Europe/Paris")
    assert made["due_s"] % HOUR == 0
    leader.look(made["due_s"] - 1)
    assert outcomes(http) == []
    leader.look(made["due_s"] + 1)
    leader.look(made["due_s"] + 2)
    found = show(http)
    assert (leader.woken, [entry["outcome"] for entry in found["runs"]]) == (1, ["made"])
    assert found["due_s"] == made["due_s"] + HOUR
    assert found["next_times_s"][:2] == [made["due_s"] + HOUR, made["due_s"] + 2 * HOUR]
    run = api.store.execution(found["last"]["run_id"])
    assert (run.name, run.user, run.tenant) == ("hourly report", "ada", "red")
    assert command_of(api.store, run.id).startswith("report friday")
    assert (found["last"]["due_s"], found["last"]["state"]) == (made["due_s"], "submitted")


def test_run_found_in_time_is_made_however_long_earlier_work_takes(
    api: Api, http: httpx.Client, leader: Leader
) -> None:
    late_s = add(http, "late", missed="skip")["due_s"]
    leader.look(late_s + 600, since_s=late_s + 301)
    assert outcomes(http, "late") == ["missed"]
    found_s = add(http, "found", missed="skip", expression="30 * * * *")["due_s"]
    leader.look(found_s + 1500, since_s=found_s + 1)
    assert outcomes(http, "found") == ["made"]


def test_two_leaders_make_each_time_once(api: Api, http: httpx.Client) -> None:
    due_s = add(http, overlap="allow")["due_s"]
    leaders = [Leader(api) for _ in range(4)]
    for time_s in (due_s, due_s + HOUR, due_s + 2 * HOUR):
        in_threads(4, lambda number, at_s=time_s: leaders[number].look(at_s))
    assert outcomes(http) == ["made"] * 3
    assert sum(leader.woken for leader in leaders) == 3
    assert len(api.client().executions().executions) == 3


@pytest.mark.parametrize("what", ["execution", "array", "workflow"])
def test_a_master_that_dies_before_the_end_of_its_transaction_has_made_nothing(
    api: Api, http: httpx.Client, leader: Leader, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    more: dict[str, Any] = {"document": STEPS} if what == "workflow" else {}
    due_s = add(http, **more, **({"indices": "0-9"} if what == "array" else {}))["due_s"]
    advance = rows.advance

    def die(connection: Connection, *args: Any) -> None:
        advance(connection, *args)
        raise KeyboardInterrupt  # after all that it writes, before it is committed

    with monkeypatch.context() as patched:
        patched.setattr(rows, "advance", die)
        with pytest.raises(KeyboardInterrupt):
            leader.look(due_s)
    assert (outcomes(http), show(http)["due_s"]) == ([], due_s)
    assert api.client().executions().executions == []
    Leader(api).look(due_s + 1)
    assert outcomes(http) == ["made"]
    assert show(http)["last"]["kind"] == what


@pytest.mark.parametrize(
    ("overlap", "second"), [("skip", "skipped"), ("allow", "made"), ("queue", "made"), ("replace", "made")]
)
@pytest.mark.parametrize("what", ["execution", "array", "workflow"])
def test_overlap(api: Api, http: httpx.Client, leader: Leader, overlap: str, second: str, what: str) -> None:
    more: dict[str, Any] = {"document": STEPS} if what == "workflow" else {}
    more |= {"indices": "0-9"} if what == "array" else {}
    due_s = add(http, overlap=overlap, **more)["due_s"]
    leader.look(due_s)
    leader.look(due_s + HOUR)
    assert outcomes(http) == ["made", second]
    runs = show(http)["runs"]
    if overlap == "skip":
        assert runs[1]["run_id"] in runs[0]["message"]
        return
    first = runs[1]["run_id"]
    parts = {"execution": [first], "array": [first]}.get(what) or [
        step.execution_id for step in api.client().workflows.one(first).graph
    ]
    if what == "array":
        after = api.store.array(runs[0]["run_id"]).conditions.after
    else:
        new = runs[0]["run_id"]
        new = api.client().workflows.one(new).graph[0].execution_id if what == "workflow" else new
        after = api.store.execution(new).conditions.after
    assert {dependency.on for dependency in after} == (set() if overlap == "allow" else set(parts))
    assert (runs[1]["state"] == "cancelled") is (overlap == "replace")


def test_queued_runs_are_bounded(http: httpx.Client, leader: Leader) -> None:
    due_s = add(http, overlap="queue")["due_s"]
    for number in range(12):
        leader.look(due_s + number * HOUR)
    assert outcomes(http) == ["made"] * 10 + ["skipped"] * 2


@pytest.mark.parametrize(
    ("missed", "wanted"),
    [("skip", ["missed"]), ("latest", ["missed", "made"]), ("all", ["made"] * 5)],
)
def test_missed_times(http: httpx.Client, leader: Leader, missed: str, wanted: list[str]) -> None:
    due_s = add(http, missed=missed, overlap="allow")["due_s"]
    for _ in range(8):
        leader.look(due_s + 4 * HOUR + 1800)
    assert outcomes(http) == wanted
    assert show(http)["due_s"] == due_s + 5 * HOUR
    missed_run = [run for run in show(http)["runs"] if run["outcome"] == "missed"]
    assert [entry["number"] for entry in missed_run] == {"skip": [5], "latest": [4], "all": []}[missed]


def test_past_times_run_once_each_with_their_own_time_and_so_many_at_once(
    api: Api, http: httpx.Client, leader: Leader
) -> None:
    params = {"day": {"default": "any"}}
    document = {**job("sh", "-c", "{param:day} {previous:hour}", name="nightly"), "params": params}
    due_s = add(
        http, document=document, parameters={"day": "{scheduled:date}"}, zone="Asia/Kolkata", expression="30 5 * * *"
    )["due_s"]
    leader.look(due_s - 86400 * 1)  # nothing is due yet
    wanted = {"from_s": due_s - 4.5 * 86400, "to_s": due_s - 86400, "at_once": 2}
    made = http.post(f"{SCHEDULES}/nightly/backfill", json=wanted).json()["runs"]
    assert [entry["due_s"] for entry in made] == [due_s - days * 86400 for days in (4, 3, 2, 1)]
    executions = [api.store.execution(entry["run_id"]) for entry in made]
    zone = ZoneInfo("Asia/Kolkata")
    day = datetime.fromtimestamp(due_s - 4 * 86400, zone).date().isoformat()
    assert command_of(api.store, made[0]["run_id"]) == f"{day} 05"
    assert dict(executions[0].application.components[0].environment)["ZOE_SCHEDULED"] == f"{day}T05:30:00+05:30"
    # Each begins when the one two before it has ended.
    assert [[other.on for other in execution.conditions.after] for execution in executions] == [
        [], [], [made[0]["run_id"]], [made[1]["run_id"]],
    ]  # fmt: skip
    assert http.post(f"{SCHEDULES}/nightly/backfill", json=wanted).json() == {
        "runs": [],
        "passed": {"submitted": 4},
        "notes": [],
    }
    # A time that comes is not skipped because of them.
    leader.look(due_s)
    assert outcomes(http) == ["backfilled"] * 4 + ["made"]
    later = http.post(f"{SCHEDULES}/nightly/backfill", json={**wanted, "to_s": due_s + 9e8})
    assert (later.status_code, "in the future" in later.text) == (422, True)
    assert http.post(f"{SCHEDULES}/absent/backfill", json=wanted).status_code == 404


def test_times_whose_runs_failed_run_again_and_only_these(api: Api, http: httpx.Client) -> None:
    due_s = add(http, document=job("sh", "-c", "{scheduled:epoch}", name="nightly"))["due_s"]
    wanted = {"from_s": due_s - 3 * HOUR, "to_s": due_s - HOUR}

    def backfill(**more: Any) -> dict[str, Any]:
        return dict(http.post(f"{SCHEDULES}/nightly/backfill", json={**wanted, **more}).raise_for_status().json())

    first = backfill()["runs"]
    http.post(f"/api/v1/executions/{first[1]['run_id']}/cancel").raise_for_status()
    assert backfill() == {"runs": [], "passed": {"submitted": 2, "cancelled": 1}, "notes": []}
    again = backfill(failed=True)
    [run] = again["runs"]
    assert (run["due_s"], run["run_id"] != first[1]["run_id"]) == (due_s - 2 * HOUR, True)
    assert command_of(api.store, run["run_id"]) == f"{due_s - 2 * HOUR:.0f}"
    assert again["passed"] == {"submitted": 2}
    assert backfill(failed=True)["runs"] == []
    assert {entry["run_id"] for entry in show(http)["runs"]} == {first[0]["run_id"], run["run_id"], first[2]["run_id"]}


def test_a_backfill_ends_at_the_first_time_that_is_refused(api: Api, http: httpx.Client) -> None:
    due_s = add(http)["due_s"]
    set_quota(api.store, "red", Quota(executions_max=2))
    made = http.post(f"{SCHEDULES}/nightly/backfill", json={"from_s": due_s - 5 * HOUR, "to_s": due_s - HOUR}).json()
    assert [run["outcome"] for run in made["runs"]] == ["backfilled", "backfilled", "refused"]
    assert made["runs"][-1]["code"] == "quota_exceeded"
    assert outcomes(http) == ["backfilled", "backfilled"]


def test_a_clock_that_goes_back_repeats_nothing(http: httpx.Client, leader: Leader) -> None:
    due_s = add(http, overlap="allow")["due_s"]
    years = 3 * 365 * 86400.0
    leader.look(due_s)
    leader.look(due_s + years)  # one made, many missed
    assert show(http)["due_s"] > due_s + years
    leader.look(due_s + HOUR - 1)
    assert show(http)["due_s"] == due_s + HOUR
    leader.look(due_s)  # a little further back
    leader.look(due_s + HOUR)
    leader.look(due_s + 2 * HOUR)
    assert outcomes(http) == ["made", "missed", "made", "made", "made"]


def test_hold_and_release(http: httpx.Client, leader: Leader) -> None:
    due_s = add(http)["due_s"]
    assert http.post(f"{SCHEDULES}/nightly/hold").json()["held"] is True
    leader.look(due_s + 5 * HOUR)
    assert outcomes(http) == []
    released = http.post(f"{SCHEDULES}/nightly/release").json()
    assert (released["held"], released["due_s"]) == (False, due_s)


def test_an_end(http: httpx.Client, leader: Leader) -> None:
    due_s = add(http, end_at_s=time.time() + HOUR)["due_s"]
    leader.look(due_s)
    found = show(http)
    assert (found["due_s"], found["next_times_s"]) == (None, [])
    leader.look(due_s + 9 * HOUR)
    assert outcomes(http) == ["made"]


def test_run_now_is_noted_once_per_key(http: httpx.Client) -> None:
    add(http)
    answers = in_threads(3, lambda _: http.post(f"{SCHEDULES}/nightly/run", headers={"Idempotency-Key": "k"}).json())
    assert len({answer["id"] for answer in answers}) == 1
    [run] = show(http)["runs"]
    assert (run["due_s"], run["run_id"], run["outcome"]) == (None, answers[0]["id"], "made")
    assert [http.post(f"{SCHEDULES}/nightly/{way}").json()["last"] for way in ("hold", "release")] == [run, run]


def test_refused_run_has_its_reason_and_the_schedule_continues(api: Api, http: httpx.Client, leader: Leader) -> None:
    put(http)
    due_s = add(http, application="report", overlap="allow")["due_s"]
    set_quota(api.store, "red", Quota(executions_max=1))
    leader.look(due_s)
    leader.look(due_s + HOUR)
    last = show(http)["last"]
    assert (last["outcome"], last["code"]) == ("refused", "quota_exceeded")
    set_quota(api.store, "red", Quota())
    http.delete(f"{APPS}/report").raise_for_status()
    leader.look(due_s + 2 * HOUR)
    assert show(http)["last"]["code"] == "not_found"
    put(http)
    api.store.accounts.set_disabled("ada", True)
    leader.look(due_s + 3 * HOUR)
    api.store.accounts.set_disabled("ada", False)
    assert show(http)["last"]["code"] == "user_disabled"
    api.store.accounts.ensure_member("ada", "red", "viewer")
    leader.look(due_s + 4 * HOUR)
    assert show(http)["last"]["code"] == "role_missing"
    api.store.accounts.ensure_member("ada", "red", "user")
    leader.look(due_s + 5 * HOUR)
    assert outcomes(http) == ["made", "refused", "refused", "refused", "refused", "made"]


def test_a_schedule_ends_with_its_membership(api: Api, http: httpx.Client, leader: Leader) -> None:
    put(http)
    due_s = add(http)["due_s"]
    api.store.accounts.remove_member("ada", "red")
    assert not leader.look(due_s)
    make_token(api.store)
    assert api.store.schedules.read("red", "ada", 10) == []
    assert api.store.schedules.applications("red", "ada") == []


def test_one_that_fails_unexpectedly_holds_up_no_others(
    http: httpx.Client, leader: Leader, monkeypatch: pytest.MonkeyPatch
) -> None:
    due_s = add(http, "broken")["due_s"]
    add(http, "fine")
    options = vars(Schedule)["run_options"].fget

    def broken(schedule: Schedule) -> Any:
        if schedule.name == "broken":
            raise RuntimeError("bang")
        return options(schedule)

    with monkeypatch.context() as patched:
        patched.setattr(Schedule, "run_options", property(broken))
        leader.look(due_s)
    assert (outcomes(http, "broken"), outcomes(http, "fine")) == (["refused"], ["made"])


def test_many_at_the_same_second_are_worked_off_in_bounded_looks(api: Api, leader: Leader, http: httpx.Client) -> None:
    due_s = add(http, "s0")["due_s"]
    pattern = api.store.schedules.one("red", "ada", "s0")
    count = AT_ONCE_MAX + 20

    def write(connection: Connection) -> None:
        for number in range(1, count):
            like = replace(pattern, id=f"s{number:024}", name=f"s{number}")
            rows.put(connection, like, count)

    api.store.database.write(write)
    assert leader.look(due_s) is True
    assert leader.woken == AT_ONCE_MAX
    assert leader.look(due_s) is False
    assert leader.woken == count


def test_schedules_are_their_owners(api: Api, http: httpx.Client) -> None:
    add(http)
    bob = api.http(make_token(api.store, "bob"))
    operator = api.http(make_token(api.store, "op", "red", "operator", ALL_SCOPES))
    viewer = api.http(make_token(api.store, "vic", "red", "viewer", ("read",)))
    assert bob.get(f"{SCHEDULES}/nightly").status_code == 404
    for path in ("hold", "release", "run"):
        assert bob.post(f"{SCHEDULES}/nightly/{path}").status_code == 404
    assert bob.post(f"{SCHEDULES}/nightly/hold", params={"user": "ada"}).status_code == 403
    assert bob.get(SCHEDULES, params={"all_users": True}).status_code == 403
    assert viewer.put(f"{SCHEDULES}/x", json={"expression": "@daily", "document": job()}).status_code == 403
    assert [
        schedule["user"] for schedule in operator.get(SCHEDULES, params={"all_users": True}).json()["schedules"]
    ] == ["ada"]
    assert operator.post(f"{SCHEDULES}/nightly/hold", params={"user": "ada"}).json()["held"] is True
    assert operator.post(f"{SCHEDULES}/nightly/run").status_code == 404
    # Neither a release nor a replacement by its owner lets it run again.
    assert problem(http.post(f"{SCHEDULES}/nightly/release"))["code"] == "held_by_operator"
    assert http.post(f"{SCHEDULES}/nightly/hold").json()["held_by_operator"] is True
    assert add(http)["held_by_operator"] is True
    assert operator.post(f"{SCHEDULES}/nightly/release", params={"user": "ada"}).json()["held"] is False
    assert http.post(f"{SCHEDULES}/nightly/hold").json()["held_by_operator"] is False
    assert http.post(f"{SCHEDULES}/nightly/release").json()["held"] is False
    assert operator.delete(f"{SCHEDULES}/nightly", params={"user": "ada"}).status_code == 204


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"expression": "61 * * * *"}, "/expression"),
        ({"zone": "Mars/Phobos"}, "/zone"),
        ({"parameters": {"x": 1}}, "/params"),
        ({"document": {"version": 4}}, "/name"),
        ({"jitter_s": -1}, "/body/jitter_s"),
        ({"application": "missing", "document": None}, None),
    ],
)
def test_invalid_schedule_is_refused_at_once(shared_http: httpx.Client, body: Document, pointer: str | None) -> None:
    answer = shared_http.put(f"{SCHEDULES}/x", json={"expression": "@daily", "document": job(), **body})
    found = problem(answer)
    assert answer.status_code == (404 if pointer is None else 422), found
    assert pointer is None or pointer in [entry["pointer"] for entry in found["errors"]]


def test_times_parameters_and_document_are_told_in_one_round(shared_http: httpx.Client) -> None:
    document = {**REPORT, "components": [{**REPORT["components"][0], "image": ""}]}
    body = {"expression": "61 * * * *", "zone": "Mars/Phobos", "document": document, "parameters": {"rows": "many"}}
    found = problem(shared_http.put(f"{SCHEDULES}/x", json=body))
    assert found["code"] == "invalid_schedule"
    places = ["/zone", "/expression", "/document/params/rows", "/document/components/0/image"]
    assert [entry["pointer"] for entry in found["errors"]] == places
    good = {**body, "expression": "@daily", "zone": "UTC"}
    found = problem(shared_http.put(f"{SCHEDULES}/x", json=good))
    assert (found["code"], [entry["pointer"] for entry in found["errors"]]) == (
        "invalid_description",
        [place.removeprefix("/document") for place in places[2:]],
    )


def test_obstacle_that_may_pass_is_only_noted(api: Api, http: httpx.Client) -> None:
    set_quota(api.store, "red", Quota(executions_max=0))
    assert add(http)["notes"] == []  # limits are checked when it runs
    big = job("true", name="big")
    big["components"][0]["resources"]["memory"] = "900GiB"
    api.start_master()
    deadline_s = time.monotonic() + 10
    while not (notes := add(http, document=big)["notes"]) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    assert notes


def test_the_thread_of_the_leader_looks_by_itself(api: Api, http: httpx.Client) -> None:
    due_s, made = add(http)["due_s"], threading.Event()
    thread = ScheduleThread(LeaderPlace(api.settings, api.store), made.set, clock=ManualClock(due_s))
    try:
        assert made.wait(10)
    finally:
        thread.close()
    assert outcomes(http) == ["made"]


def test_a_hand_over_gives_schedules_and_applications_under_free_names(api: Api, http: httpx.Client) -> None:
    bob = api.http(make_token(api.store, "bob"))
    for person in (http, bob):
        put(person)
        add(person)
    api.store.schedules.hand_over_applications("red", "ada", "bob")
    api.store.schedules.hand_over("red", "ada", "bob")
    assert [schedule["name"] for schedule in bob.get(SCHEDULES).json()["schedules"]] == ["nightly", "nightly-2"]
    assert [entry["name"] for entry in bob.get(APPS).json()["applications"]] == ["report", "report-2"]


@pytest.mark.parametrize("day", ["{scheduled:nope}", "{scheduled:date"])
def test_a_parameter_is_no_unknown_part_of_a_time(http: httpx.Client, day: str) -> None:
    put(http)
    body = {"expression": "@daily", "application": "report", "parameters": {"day": day}}
    found = problem(http.put(f"{SCHEDULES}/nightly", json=body))
    assert (found["code"], "is not a time of this run" in found["detail"]) == ("invalid_request", True)
    assert http.post(f"{APPS}/report/dispatch", json={"parameters": {"day": day}}).status_code == 422
