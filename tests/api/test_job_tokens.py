"""Rights of a job's token: a table over all routes, and each change with ids of its own and of other units."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.api import Api, problem
from tests.support.jobs import BODY, Job, finish, start, token_of
from tests.support.people import make_token
from zoe_api.main import bare_app
from zoe_api.services.job_calls import ROUTES
from zoe_client.errors import TimedOut
from zoe_lib.domain.executions.execution import ExecutionState, Outcome
from zoe_lib.tokens.job_tokens import OFFERED

CHANGES = ("cancel", "hold", "release", "requeue")


@pytest.fixture
def job(api: Api, http: httpx.Client) -> Job:
    return Job(api, http)


@pytest.fixture
def foreign(http: httpx.Client) -> str:
    """Another execution of the same owner."""
    return str(http.post("/api/v1/executions", json=BODY).json()["id"])


def routes() -> Iterator[tuple[str, str, str]]:
    """Yield method, path and name of each route."""
    for route in bare_app().routes:
        for method in sorted(getattr(route, "methods", None) or ()):
            if method in ("GET", "POST", "PUT", "PATCH", "DELETE") and route.path.startswith("/api/v1/"):  # type: ignore[attr-defined]
                yield method, route.path, route.name  # type: ignore[attr-defined]


WITHOUT_TOKEN = {"sign_in", "sign_out", "list_providers", "ask_for_machine", "get_machine_token", "openapi"}
WITHOUT_TOKEN |= {"oidc_start", "oidc_callback", "oidc_callback_of_provider"}


def test_every_other_route_refuses_the_token_of_a_job(api: Api, job: Job) -> None:
    refused, walked = set(), 0
    with api.http(job.token) as http:
        for method, path, name in routes():
            if name in ROUTES or name in WITHOUT_TOKEN:
                continue
            walked += 1
            api.app.state.services.job_rates._free_at_s.clear()
            target = path.replace("{execution_id}", job.id).replace("{", "").replace("}", "")
            answer = http.request(method, target, json={} if method != "GET" else None)
            code = answer.json().get("code") if answer.content else answer.status_code
            if code not in ("not_for_jobs", "bad_token"):
                refused.add((method, path, answer.status_code, code))
    assert not refused
    assert walked > 100


def test_routes_of_jobs_exist() -> None:
    assert {name for _, _, name in routes()} >= ROUTES


def test_a_job_changes_itself_and_its_descendants_only(api: Api, job: Job, foreign: str) -> None:
    child = job.child()
    grandchild = Job(api, job.http, child).child()
    for verb in CHANGES:
        for target in (foreign, "x1m00000000none", "99999"):
            before = None if target != foreign else api.store.execution(foreign)
            refused = problem(job.change(verb, target))
            assert (refused["status"], refused["code"]) == (403, "not_of_job")
            if before is not None:
                assert api.store.execution(foreign) == before
    for verb in ("hold", "release", "cancel"):
        assert job.change(verb, grandchild).status_code == 200
    assert job.change("requeue", child).status_code == 200
    assert job.http.patch(f"/api/v1/executions/{foreign}", json={"time_limit_s": 60}).status_code == 403
    assert job.http.patch(f"/api/v1/executions/{job.child()}", json={"time_limit_s": 60}).status_code == 200
    below = Job(api, job.http, job.child())
    assert problem(below.change("cancel", job.id))["code"] == "not_of_job"  # nor its ancestors


def test_lists_of_a_job_have_its_family_only(api: Api, job: Job, foreign: str) -> None:
    child = job.child()
    array = job.http.post("/api/v1/arrays", json={**BODY, "indices": "0-2"}).json()["id"]
    others = api.http().post("/api/v1/arrays", json={**BODY, "indices": "0-2"}).json()["id"]
    listed = job.http.get("/api/v1/executions").json()["executions"]
    assert {entry["id"] for entry in listed} == {job.id, child}
    assert job.http.get("/api/v1/executions", params={"id": foreign}).json()["executions"] == []
    assert job.http.get("/api/v1/executions", params={"user": "ada", "array": others}).json()["executions"] == []
    assert [entry["id"] for entry in job.http.get("/api/v1/arrays").json()["arrays"]] == [array]
    assert job.http.get(f"/api/v1/arrays/{array}").status_code == 200
    assert problem(job.http.get(f"/api/v1/arrays/{others}"))["code"] == "not_of_job"
    assert problem(job.http.get("/api/v1/executions", params={"all_tenants": True}))["status"] == 403


def test_dependencies_are_of_the_family(job: Job, foreign: str) -> None:
    assert job.submit(after=[f"ok:{job.id}"]).status_code == 201
    assert problem(job.submit(after=[f"ok:{foreign}"]))["status"] == 422
    refused = job.http.post("/api/v1/arrays", json={**BODY, "indices": "0-2", "after": ["corr:a1m00000000abcd"]})
    assert problem(refused)["status"] == 422


def test_the_token_ends_with_its_attempt(api: Api, http: httpx.Client, job: Job) -> None:
    child = job.child()
    assert job.change("requeue", job.id).json()["state"] == "stopping"
    assert job.http.get(f"/api/v1/executions/{child}").status_code == 200
    finish(api, job.id)
    before = api.store.execution(child)
    for verb in CHANGES:
        for target in (job.id, child):
            refused = problem(job.change(verb, target))
            assert (refused["status"], refused["code"]) == (401, "job_token_ended")
    assert problem(job.submit())["code"] == "job_token_ended"
    start(api, job.id)  # the next attempt runs
    assert problem(job.change("cancel", child))["code"] == "job_token_ended"
    assert api.store.execution(child) == before
    assert api.http(token_of(api, job.id, 2)).post(f"/api/v1/executions/{child}/cancel").status_code == 200
    shown = http.get(f"/api/v1/executions/{child}").json()
    assert shown["submitted_by"] == {"execution_id": job.id, "attempt": 1}
    assert http.get(f"/api/v1/executions/{job.id}").json()["submitted"] == [child]


def test_the_token_ends_when_its_owner_may_not_submit(api: Api, job: Job) -> None:
    api.store.accounts.ensure_member("ada", "red", "viewer")
    assert problem(job.submit())["code"] == "job_token_ended"
    api.store.accounts.ensure_member("ada", "red", "user")
    api.store.accounts.set_disabled("ada", True)
    assert problem(job.change("requeue", job.id))["code"] == "job_token_ended"


def test_a_job_that_is_cancelled_submits_nothing_more(api: Api, http: httpx.Client, job: Job) -> None:
    child = job.child()
    assert http.post(f"/api/v1/executions/{job.id}/cancel").status_code == 200
    assert problem(job.submit())["code"] == "job_cancelled"
    assert job.change("cancel", child).status_code == 200
    assert api.store.execution(job.id).outcome is Outcome.CANCELLED


def test_a_requeue_may_hold_it(api: Api, job: Job) -> None:
    assert job.http.post(f"/api/v1/executions/{job.id}/requeue", params={"hold": True}).status_code == 200
    assert job.http.post(f"/api/v1/executions/{job.id}/requeue", params={"hold": True}).status_code == 200
    finish(api, job.id)
    found = api.store.execution(job.id)
    assert (found.state, found.attempt, str(found.conditions.held)) == (ExecutionState.SUBMITTED, 2, "user")


def test_the_audit_log_names_the_job(api: Api, job: Job) -> None:
    child = job.child()
    job.change("cancel", child)
    job.change("requeue", "x1m00000000none")
    job.http.put("/api/v1/secrets/mine", json={"value": "x"})
    told = {(entry.action, entry.user, entry.by, entry.status) for entry in api.store.accounts.audit(None, 50)}
    by = f"job {job.id} attempt 1"
    assert told >= {
        ("submit_execution", "ada", by, 201),
        ("cancel_execution", "ada", by, 200),
        ("requeue_execution", "ada", by, 403),
        ("set_secret", "ada", by, 403),
    }


@pytest.mark.parametrize("text", ["zoejob_", "zoejob_a.b", "zoejob_{claim}.0000", "zoe_x_y"])
def test_a_made_up_token_is_refused(api: Api, job: Job, text: str) -> None:
    claim = job.token.removeprefix("zoejob_").partition(".")[0]
    assert problem(api.http(text.replace("{claim}", claim)).get("/api/v1/executions"))["code"] == "bad_token"


def test_many_calls_are_refused_and_nothing_is_lost(api: Api, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api.app.state.services.job_rates, "_per_s_max", 0.1)
    refused = job.http.get(f"/api/v1/executions/{job.id}")
    assert problem(refused)["code"] == "job_calls_too_often"
    assert refused.headers["Retry-After"] == "1"
    assert refused.elapsed.total_seconds() >= 0.9  # held back, for jobs that do not wait
    other = make_token(api.store, "eve", "red")
    assert api.http(other).get("/api/v1/executions").status_code == 200


def state_of(api: Api, execution_id: str) -> str:
    found = api.store.execution(execution_id)
    return "cancelled" if found.outcome is Outcome.CANCELLED else found.state.value


def test_descendants_are_cancelled_also_of_one_that_has_ended(api: Api, http: httpx.Client, job: Job) -> None:
    second = Job(api, job.http, job.child())
    third, array = second.child(), second.http.post("/api/v1/arrays", json={**BODY, "indices": "0-2"}).json()["id"]
    http.post(f"/api/v1/executions/{job.id}/cancel")
    finish(api, job.id)
    done = http.post(f"/api/v1/executions/{job.id}/cancel-descendants")
    assert (done.status_code, set(done.json()["ids"])) == (200, {second.id, third, array})
    assert [state_of(api, text) for text in (second.id, third)] == ["cancelled"] * 2
    assert api.store.array(array).state is ExecutionState.CANCELLED
    for refused in (second.submit(), second.http.post("/api/v1/arrays", json={**BODY, "indices": "0"})):
        assert problem(refused)["code"] == "job_cancelled"
    assert problem(second.http.post(f"/api/v1/arrays/{array}/requeue"))["code"] == "job_cancelled"
    assert api.store.array(array).state is ExecutionState.CANCELLED
    assert http.post(f"/api/v1/arrays/{array}/requeue").status_code == 200  # its owner may
    index = problem(http.post(f"/api/v1/executions/{array}_1/cancel-descendants"))
    assert (index["status"], array in index["hint"]) == (422, True)


@pytest.mark.parametrize("path", ["executions", "arrays"])
def test_a_submission_that_is_made_while_its_job_is_stopped_is_cancelled(
    api: Api, http: httpx.Client, job: Job, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """It was recorded before, so it was not refused, and stored after, so it was not seen."""
    store, name = api.app.state.services.store, "submit" if path == "executions" else "submit_array"
    submit = getattr(store, name)

    def late(*args: Any) -> Any:
        assert http.post(f"/api/v1/executions/{job.id}/cancel-descendants").json()["ids"] == [job.id]
        return submit(*args)

    monkeypatch.setattr(store, name, late)
    refused = job.http.post(f"/api/v1/{path}", json={**BODY, **({"indices": "0-2"} if path == "arrays" else {})})
    assert problem(refused)["code"] == "job_cancelled"
    listed = http.get(f"/api/v1/{path}").json()[path]
    assert len(listed) == (2 if path == "executions" else 1)
    assert all(state_of(api, entry["id"]) == "cancelled" for entry in listed if path == "executions")
    assert all(entry["state"] == "cancelled" for entry in listed if path == "arrays")


def test_shared_execution_is_not_cancelled_with_its_descendants(api: Api, job: Job) -> None:
    eve = api.http(make_token(api.store, "eve", "red"))
    assert problem(eve.post(f"/api/v1/executions/{job.id}/cancel-descendants"))["status"] == 404
    api.http().put(f"/api/v1/executions/{job.id}/shares", json={"user": "eve", "level": "control"}).raise_for_status()
    assert problem(eve.post(f"/api/v1/executions/{job.id}/cancel-descendants"))["code"] == "share_too_low"
    assert state_of(api, job.id) == "starting"


@pytest.mark.parametrize("level", ["open", "control"])
def test_the_token_of_a_notebook_ends_for_good_when_another_user_can_read_it(api: Api, job: Job, level: str) -> None:
    make_token(api.store, "eve", "red")
    notebook, shares = api.http(token_of(api, job.id, grant=OFFERED)), f"/api/v1/executions/{job.id}/shares"
    assert notebook.post("/api/v1/executions", json=BODY).status_code == 201
    api.http().put(shares, json={"user": "eve", "level": "look"}).raise_for_status()
    assert notebook.get(f"/api/v1/executions/{job.id}").status_code == 200, "who only looks reads no files"
    shared = api.http().put(shares, json={"user": "eve", "level": level}).raise_for_status()
    assert "token" in shared.json()["warning"]
    refusal = problem(notebook.post("/api/v1/executions", json=BODY))
    assert (refusal["code"], "shared" in refusal["detail"]) == ("job_token_ended", True)
    api.http().delete(shares, params={"user": "eve"}).raise_for_status()
    assert problem(notebook.get(f"/api/v1/executions/{job.id}"))["code"] == "job_token_ended", "eve may have kept it"
    assert job.submit().status_code == 201, "a batch job needs its token to end well"


def test_admins_can_turn_the_tokens_of_notebooks_off(api: Api, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = api.http(token_of(api, job.id, grant=OFFERED))
    monkeypatch.setattr(api.app.state.services.settings, "offered_tokens", False)
    assert "offered_tokens" in problem(notebook.post("/api/v1/executions", json=BODY))["detail"]
    assert job.submit().status_code == 201


def test_the_sdk_waits_for_what_a_notebook_submitted(api: Api, job: Job) -> None:
    client = api.client(token_of(api, job.id, grant=OFFERED))
    child = client.run(BODY["application"])
    client.cancel(child.id)
    assert child.wait(timeout_s=20).state == "cancelled"
    with pytest.raises(TimedOut):
        client.wait(job.id, timeout_s=0.3)
