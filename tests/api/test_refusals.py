"""Every code that a refusal may carry, brought about once; docs/reference/errors.md lists the same codes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import pytest
from fastapi import HTTPException
from pydantic import SecretStr

from tests.support.api import Api, problem
from tests.support.browser import Browser
from tests.support.documents import document as described
from tests.support.documents import job, part
from tests.support.jobs import Job, token_of
from tests.support.largest_questions import wide_description
from tests.support.limits import Quota, set_quota
from tests.support.master import NODES
from tests.support.people import ALL_SCOPES, make_token
from tests.support.waiting import until
from zoe_api.cluster import replays
from zoe_api.http.attempts import guess_limit, password_checks
from zoe_api.http.problems.codes import PROBLEMS, Code
from zoe_api.people.sign_in.identity import Identity
from zoe_api.people.sign_in.ldap import Ldap
from zoe_api.questions import pool
from zoe_api.storage import volumes
from zoe_api.storage.client import StorageController
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, ExecutionState, Outcome
from zoe_lib.domain.lifecycle.lifecycle import IllegalTransition
from zoe_lib.domain.values.volumes import BlockVolume, VolumeState
from zoe_lib.messaging.client import MasterRefused
from zoe_lib.messaging.slow_lane import Bounds
from zoe_lib.settings.sign_in_settings import LdapSettings, OidcSettings
from zoe_lib.store.errors import ConcurrentUpdate, StoreUnavailable, Unstorable
from zoe_lib.store.people import Share, SignInAttempt
from zoe_lib.store.sql.accounts import signing_in
from zoe_lib.store.sql.accounts.waiting import WaitingBounds
from zoe_lib.store.sql.billing.prices import Budget
from zoe_lib.store.sql.visible.shares import SHARES_MAX
from zoe_lib.submission.ids import hash_of

Raise = Callable[[str, Exception], None]
BODY = {"application": job()}


@pytest.fixture
def breaks(api: Api, monkeypatch: pytest.MonkeyPatch) -> Raise:
    """Lets a method of the store raise."""

    def let(method: str, error: Exception) -> None:
        def fail(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr(api.store, method, fail)

    return let


def submitted(api: Api) -> str:
    return api.client().submit(job()).id


def invalid_json(api: Api, _: Raise) -> httpx.Response:
    return api.http().post(
        "/api/v1/validate", content=b'{"application": ', headers={"content-type": "application/json"}
    )


def invalid_cursor(api: Api, _: Raise) -> httpx.Response:
    return api.http().get("/api/v1/executions", params={"cursor": "never ours"})


def no_token(api: Api, _: Raise) -> httpx.Response:
    return api.http(None).get("/api/v1/me")


def bad_token(api: Api, _: Raise) -> httpx.Response:
    return api.http("zoe_0123_4567").get("/api/v1/me")


def with_bounds(api: Api, **bounds: int) -> Job:
    """Return a job whose family has these bounds."""
    for name, value in bounds.items():
        object.__setattr__(api.app.state.services.settings, name, value)
    return Job(api, api.http())


def job_token_ended(api: Api, _: Raise) -> httpx.Response:
    return api.http(token_of(api, submitted(api))).get("/api/v1/executions")  # it has not begun


def not_for_jobs(api: Api, _: Raise) -> httpx.Response:
    return Job(api, api.http()).http.get("/api/v1/secrets")


def not_of_job(api: Api, _: Raise) -> httpx.Response:
    return Job(api, api.http()).change("cancel", submitted(api))


def job_cancelled(api: Api, _: Raise) -> httpx.Response:
    job = Job(api, api.http())
    api.http().post(f"/api/v1/executions/{job.id}/cancel")
    return job.submit()


def job_too_deep(api: Api, _: Raise) -> httpx.Response:
    job = with_bounds(api, job_depth_max=1)
    return Job(api, job.http, job.child()).submit()


def too_many_descendants(api: Api, _: Raise) -> httpx.Response:
    job = with_bounds(api, job_descendants_max=1)
    job.child()
    return job.submit()


def job_submits_too_often(api: Api, _: Raise) -> httpx.Response:
    job = with_bounds(api, job_submissions_per_minute_max=1)
    job.child()
    answer = job.submit()
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    return answer


def job_calls_too_often(api: Api, _: Raise) -> httpx.Response:
    job = Job(api, api.http())
    while (answer := job.http.get(f"/api/v1/executions/{job.id}")).status_code == 200:
        pass
    assert answer.headers["retry-after"] == "1"
    return answer


def jobs_unreachable(api: Api, _: Raise) -> httpx.Response:
    return api.http().post("/api/v1/executions", json={"application": described(part(api="jobs"))})


def scope_missing(api: Api, _: Raise) -> httpx.Response:
    return api.http(make_token(api.store, scopes=("read",))).post("/api/v1/executions", json=BODY)


def not_admin(api: Api, _: Raise) -> httpx.Response:
    return api.http(make_token(api.store, scopes=ALL_SCOPES)).get("/api/v1/admin/users")


def role_missing(api: Api, _: Raise) -> httpx.Response:
    return api.http(make_token(api.store, "vera", role="viewer")).post("/api/v1/executions", json=BODY)


def share_too_low(api: Api, _: Raise) -> httpx.Response:
    bob, execution_id = make_token(api.store, "bob"), submitted(api)
    api.client().share(execution_id, ShareLevel.LOOK, "bob")
    return api.http(bob).post(f"/api/v1/executions/{execution_id}/cancel")


def held_by_operator(api: Api, _: Raise) -> httpx.Response:
    execution_id, root = submitted(api), make_token(api.store, "root", "red", "operator", ("read", "submit", "operate"))
    api.http(root).post(f"/api/v1/executions/{execution_id}/hold")
    return api.http().post(f"/api/v1/executions/{execution_id}/release")


def too_many_shares(api: Api, _: Raise) -> httpx.Response:
    execution_id = submitted(api)
    for number in range(SHARES_MAX + 1):
        api.store.accounts.ensure_member(f"user{number}", "red", "user")
    for number in range(SHARES_MAX):
        api.store.accounts.share(Share(execution_id, "red", "ada", f"user{number}", ShareLevel.LOOK, 1.0))
    body = {"user": f"user{SHARES_MAX}", "level": "look"}
    return api.http().put(f"/api/v1/executions/{execution_id}/shares", json=body)


def session_over(api: Api, _: Raise) -> httpx.Response:
    return api.http(None, cookies={"zoe-session": "nobody's"}).get("/api/v1/me")


def session_needed(api: Api, _: Raise) -> httpx.Response:
    return api.http().put("/api/v1/session/tenant", json={"tenant": "red"})


def csrf_token_missing(api: Api, _: Raise) -> httpx.Response:
    browser = Browser(api)
    browser.sign_in()
    return browser.http.post("/api/v1/executions", json=BODY)


def foreign_origin(api: Api, _: Raise) -> httpx.Response:
    return api.http().get("/api/v1/me", headers={"Origin": "http://elsewhere.example"})


def host_not_allowed(api: Api, _: Raise) -> httpx.Response:
    return api.http().get("/api/v1/me", headers={"Host": "elsewhere.example"})


def bad_sign_in(api: Api, _: Raise) -> httpx.Response:
    return Browser(api).try_to_sign_in(password="a wrong password")


def too_many_sign_ins(api: Api, _: Raise) -> httpx.Response:
    browser = Browser(api)
    for _number in range(guess_limit.FAILURES_OF_PAIR_MAX):
        assert browser.try_to_sign_in(password="a wrong password").status_code == 401
    answer = browser.try_to_sign_in()
    assert answer.headers["retry-after"] == f"{guess_limit.WITHIN_S:.0f}"
    return answer


def sign_in_busy(api: Api, _: Raise) -> httpx.Response:
    browser = Browser(api)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(password_checks, "INSIDE_MAX", 0)
        answer = browser.try_to_sign_in()
    assert answer.headers["retry-after"] == "1"
    return answer


def no_membership(api: Api, _: Raise) -> httpx.Response:
    return Browser(api).try_to_sign_in(tenant="blue")


def sign_in_failed(api: Api, _: Raise) -> httpx.Response:
    return api.http(None).get("/api/v1/session/oidc/callback?state=never+ours&code=x")


def sign_in_mixed_up(api: Api, _: Raise) -> httpx.Response:
    for name in ("honest", "liar"):
        api.settings.oidc[name] = OidcSettings(issuer="http://127.0.0.1:1", client_id="zoe")
    secret = "s" * 64
    attempt = SignInAttempt(hash_of(secret), hash_of(secret), "liar", "nonce", "verifier", "/", time.time() + 600.0)
    api.store.accounts.add_sign_in(attempt, [], WaitingBounds(1, 1), time.time())
    there = f"/api/v1/session/oidc/callback/honest?state={secret}&code=x"
    return api.http(None).get(there, headers={"Cookie": f"zoe-sign-in={secret}"})


def sign_in_refused(api: Api, _: Raise) -> httpx.Response:
    Browser(api)
    api.settings.ldap["corp"] = LdapSettings(url="ldap://localhost", base="dc=x")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Ldap, "identity", lambda *_: Identity("corp", "s", "ben"))
        body = {"user": "ben", "password": "x", "provider": "corp"}
        return api.http(None).post("/api/v1/session", json=body)


def provider_unavailable(api: Api, _: Raise) -> httpx.Response:
    api.settings.ldap["corp"] = LdapSettings(url="ldap://localhost:1", base="dc=x")
    body = {"user": "ben", "password": "x", "provider": "corp"}
    return api.http(None).post("/api/v1/session", json=body)


def own_account(api: Api, _: Raise) -> httpx.Response:
    return api.http(api.admin).patch("/api/v1/admin/users/root", json={"disabled": True})


def one_tenant(api: Api, _: Raise) -> httpx.Response:
    return api.http(api.admin).post("/api/v1/admin/tenants", json={"name": "blue"})


PRICES = {"currency": "EUR", "from": "2026-01-01", "rates": [{"meter": "core_hours", "rate": "1"}]}


def budget_exceeded(api: Api, _: Raise) -> httpx.Response:
    api.store.billing.set_price_list(PRICES, 0.0, "root")
    api.store.billing.set_budget(Budget("red", None, Decimal(0), refuses=True))
    return api.http().post("/api/v1/executions", json=BODY)


def submissions_closed(api: Api, _: Raise) -> httpx.Response:
    api.store.set_policy(Policy(submissions_closed="new disks until noon"), 0, 1.0, "test")
    return api.http().post("/api/v1/executions", json=BODY)


def invalid_price_list(api: Api, _: Raise) -> httpx.Response:
    return api.http(api.admin).post("/api/v1/admin/price-lists", json={"document": {}})


def price_list_refused(api: Api, _: Raise) -> httpx.Response:
    return api.http(api.admin).post("/api/v1/admin/price-lists", json={"document": PRICES})


def statement_refused(api: Api, _: Raise) -> httpx.Response:
    return api.http(api.admin).post("/api/v1/admin/statements/2090-01/close")


def quota_exceeded(api: Api, _: Raise) -> httpx.Response:
    set_quota(api.store, "red", Quota(0))
    return api.http().post("/api/v1/executions", json=BODY)


def time_limit_too_long(api: Api, _: Raise) -> httpx.Response:
    set_quota(api.store, "red", Quota(time_limit_s_max=60.0))
    return api.http().post("/api/v1/executions", json={"application": job(time_limit_s=61)})


def not_found(api: Api, _: Raise) -> httpx.Response:
    return api.http().get("/api/v1/executions/x1")


def no_such_route(api: Api, _: Raise) -> httpx.Response:
    return api.http().get("/api/v1/nothing")


def no_logs(api: Api, _: Raise) -> httpx.Response:
    api.start_master()
    execution = api.client().submit(described(part("main"), name="job"))
    api.client().cancel(execution.id)
    # Else the next master may start the service.
    until(lambda: api.client().execution(execution.id).state is ExecutionState.CANCELLED)
    service = api.client().execution(execution.id).services[0].id
    api.stop_master()
    api.start_master()
    return api.http().get(f"/api/v1/executions/{execution.id}/services/{service}/logs")


def method_not_allowed(api: Api, _: Raise) -> httpx.Response:
    return api.http().put("/api/v1/executions", json=BODY)


def conflict(api: Api, breaks: Raise) -> httpx.Response:
    execution_id = submitted(api)
    breaks("append", ConcurrentUpdate("somebody else"))
    return api.http().post(f"/api/v1/executions/{execution_id}/cancel")


def name_taken(api: Api, _: Raise) -> httpx.Response:
    return api.http(api.admin).post("/api/v1/admin/users", json={"name": "root"})


def illegal_state(api: Api, breaks: Raise) -> httpx.Response:
    execution_id = submitted(api)
    breaks("append", IllegalTransition(api.store.execution(execution_id), ev.Ended(at_s=0.0), "no"))
    return api.http().post(f"/api/v1/executions/{execution_id}/cancel")


def already_ended(api: Api, _: Raise) -> httpx.Response:
    execution = api.store.execution(submitted(api))
    refused = ev.Refused(at_s=1.0, outcome=Outcome.FAILED, cause=Cause.NEVER_FITS)
    api.store.append(execution.id, [refused], execution.version, None)
    return api.http().post(f"/api/v1/executions/{execution.id}/cancel")


def idempotency_conflict(api: Api, _: Raise) -> httpx.Response:
    http = api.http()
    headers = {"Idempotency-Key": "one"}
    assert http.post("/api/v1/executions", json=BODY, headers=headers).status_code == 201
    return http.post("/api/v1/executions", json={**BODY, "name": "other"}, headers=headers)


def version_mismatch(api: Api, _: Raise) -> httpx.Response:
    return api.http().post(f"/api/v1/executions/{submitted(api)}/cancel", headers={"If-Match": '"99"'})


def too_large(api: Api, _: Raise) -> httpx.Response:
    return api.http().post("/api/v1/validate", content=b" " * (api.settings.api_body_bytes_max + 1))


def invalid_request(api: Api, _: Raise) -> httpx.Response:
    return api.http().post("/api/v1/executions", json={**BODY, "priority": "high", "a/b": 1})


def invalid_description(api: Api, _: Raise) -> httpx.Response:
    return api.http().post("/api/v1/executions", json={"application": {"version": 4}})


def invalid_policy(api: Api, _: Raise) -> httpx.Response:
    return api.http(api.admin).put("/api/v1/policy", json={"filters": ["unheard of"]})


def never_fits(api: Api, _: Raise) -> httpx.Response:
    api.store.set_platform(NODES, time.time(), None)
    body = {"application": described(part(resources={"memory": "1TiB"}))}
    return api.http().post("/api/v1/executions", json=body)


def storage_guarantee_unavailable(api: Api, _: Raise) -> httpx.Response:
    body = {"application": job(storage={"bandwidth": {"read": "1MB/s", "guarantee": "required"}})}
    return api.http().post("/api/v1/executions", json=body)


def priority_too_high(api: Api, _: Raise) -> httpx.Response:
    api.store.set_policy(Policy(priorities_max={"*": 5}), 0, 1.0, "test")
    return api.http().post("/api/v1/plan", json={"application": job(priority=6)})


def unstorable(api: Api, breaks: Raise) -> httpx.Response:
    breaks("submit", Unstorable("a NUL character"))
    return api.http().post("/api/v1/executions", json=BODY)


def replay_refused(api: Api, _: Raise) -> httpx.Response:
    return api.http(api.admin).post("/api/v1/replays", json={"from_s": 1.0})


def replay_too_long(api: Api, _: Raise) -> httpx.Response:
    api.settings.replay_s_max = 0.01
    return replay_refused(api, _)


def replay_busy(api: Api, _: Raise) -> httpx.Response:
    with replays.one_at_a_time:
        return replay_refused(api, _)


def too_many_streams(api: Api, _: Raise) -> httpx.Response:
    its = api.app.state.services
    with ExitStack() as held:
        for _number in range(its.settings.api_streams_of_token_max):
            held.enter_context(its.streams.stream("ada", api.token.split("_")[1]))
        return api.http().get("/api/v1/events")


def replay_failed(api: Api, _: Raise) -> httpx.Response:
    api.settings.database_url = SecretStr("postgresql+psycopg2://zoe@/zoe?host=/nonexistent")
    return replay_refused(api, _)


def internal(api: Api, breaks: Raise) -> httpx.Response:
    breaks("policy", RuntimeError("a secret detail"))
    answer = api.http().get("/api/v1/policy")
    assert "secret" not in answer.text
    return answer


def master_refused(api: Api, breaks: Raise) -> httpx.Response:
    def refuse(*_: object) -> dict[str, Any]:
        raise MasterRefused("internal", "a bug")

    api.master_client.ask = refuse  # type: ignore[method-assign]
    return api.http().get("/api/v1/usage")


def plan_busy(api: Api, _: Raise) -> httpx.Response:
    api.master_client.ask = refusing("plan_busy")  # type: ignore[method-assign]
    return api.http().post("/api/v1/plan", json={"application": job()})


def queue_too_long(api: Api, _: Raise) -> httpx.Response:
    api.master_client.ask = refusing("queue_too_long")  # type: ignore[method-assign]
    return api.http().post("/api/v1/plan", json={"application": job()})


def storage_rule_refused(api: Api, _: Raise) -> httpx.Response:
    return api.http(api.admin).post("/api/v1/storage/rules", json={"text": "FOR"})  # without a storage controller


def storage_rules_unavailable(api: Api, _: Raise) -> httpx.Response:
    away = api.settings.model_copy(update={"storage_url": "http://127.0.0.1:1"})
    api.app.state.storage_controller = StorageController(away)
    return api.http().get("/api/v1/storage/why", params={"container": "c", "object": "o"})


def logs_busy(api: Api, _: Raise) -> httpx.Response:
    execution = api.client().submit(job())
    api.master_client.ask = refusing("logs_busy")  # type: ignore[method-assign]
    return api.http().get(f"/api/v1/executions/{execution.id}/services/{execution.services[0].id}/logs")


def too_many_secrets(api: Api, _: Raise) -> httpx.Response:
    for number in range(api.settings.secrets_of_user_max):
        api.client().set_secret(f"s{number}", "x")
    return api.http().put("/api/v1/secrets/more", json={"value": "x"})


def stored_volume(api: Api) -> BlockVolume:
    volume = BlockVolume("v1", "red", "ada", "data", 16 << 20, "plain", (), 1.0, VolumeState.READY.value)
    api.store.accounts.add_volume(volume, 16 << 20)
    return volume


def volume_refused(api: Api, _: Raise) -> httpx.Response:
    return api.http().post("/api/v1/volumes", json={"name": "data", "size_bytes": 16 << 20})


def too_many_volumes(api: Api, _: Raise) -> httpx.Response:
    object.__setattr__(api.app.state.services.settings, "volumes_of_tenant_bytes_max", 0)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(volumes, "why_no_volumes", lambda _: "")
        return api.http().post("/api/v1/volumes", json={"name": "data", "size_bytes": 16 << 20})


def volume_attached(api: Api, _: Raise) -> httpx.Response:
    api.store.accounts.attach_volume(stored_volume(api).id, submitted(api), "s1", 1.0)
    return api.http().delete("/api/v1/volumes/data")


def too_many_tokens(api: Api, _: Raise) -> httpx.Response:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(signing_in, "TOKENS_OF_USER_MAX", 0)
        return api.http().post("/api/v1/tokens", json={"scopes": ["read"]})


def too_many_targets(api: Api, _: Raise) -> httpx.Response:
    body = {"url": "https://hooks.example.org/"}
    for number in range(api.settings.notification_targets_max):
        api.http().put(f"/api/v1/notifications/t{number}", json=body).raise_for_status()
    return api.http().put("/api/v1/notifications/more", json=body)


def too_many_stored(api: Api, _: Raise) -> httpx.Response:
    for number in range(api.settings.schedules_max):
        add_schedule(api, f"s{number}").raise_for_status()
    return add_schedule(api, "more")


def invalid_schedule(api: Api, _: Raise) -> httpx.Response:
    return add_schedule(api, "x", expression="61 * * * *")


def add_schedule(api: Api, name: str, **more: Any) -> httpx.Response:
    return api.http().put(f"/api/v1/schedules/{name}", json={"expression": "@daily", "document": job(), **more})


def target_refused(api: Api, _: Raise) -> httpx.Response:
    return api.http().put("/api/v1/notifications/inside", json={"url": "https://127.0.0.1/"})


def check_busy(api: Api, _: Raise) -> httpx.Response:
    its = api.app.state.services
    who = api.http().get("/api/v1/me").json()["user"]
    for _place in range(4):
        its.checks.take("check", who, Bounds(4, 4, "check_busy"))
    return api.http().post("/api/v1/validate", json={"application": job()})


def check_too_long(api: Api, _: Raise) -> httpx.Response:
    with patch.object(pool, "SECONDS_MAX", 0.001):
        return api.http().post("/api/v1/validate", json={"application": wide_description()})


def position_unknown(api: Api, _: Raise) -> httpx.Response:
    return api.http().get("/api/v1/executions", headers={"Zoe-No-Older-Than": str(10**15)})


def position_not_reached(api: Api, _: Raise) -> httpx.Response:
    api.client().submit(job())
    api.master_client.ask = lambda *_, **__: {"reached": 0}  # type: ignore[method-assign]
    return api.http().get("/api/v1/executions", headers={"Zoe-No-Older-Than": str(api.store.last_journal_id())})


def position_busy(api: Api, _: Raise) -> httpx.Response:
    its = api.app.state.services
    who = api.http().get("/api/v1/me").json()["user"]
    for _place in range(4):
        its.positions._places.take("position", who, Bounds(4, 4, "position_busy"))
    answer = api.http().get("/api/v1/executions", headers={"Zoe-No-Older-Than": "1"})
    assert answer.headers["retry-after"] == "1"
    return answer


def refusing(code: str) -> Callable[..., dict[str, Any]]:
    def refuse(*_: object) -> dict[str, Any]:
        raise MasterRefused(code, "as many as may be")

    return refuse


def database_unavailable(api: Api, breaks: Raise) -> httpx.Response:
    breaks("policy", StoreUnavailable("the password is wrong"))
    answer = api.http().get("/api/v1/policy")
    assert "password" not in answer.text
    assert answer.headers["retry-after"] == "1"
    return answer


def master_unreachable(api: Api, _: Raise) -> httpx.Response:
    return api.http().get("/api/v1/usage")


def http_error(api: Api, _: Raise) -> httpx.Response:
    def teapot() -> None:
        raise HTTPException(400, "short and stout")

    api.app.add_api_route("/teapot", teapot)
    return api.http().get("/teapot")


CASES = {Code(case.__name__): case for case in list(globals().values()) if getattr(case, "__name__", "") in set(Code)}


# Those of connections have no request id; see test_heads.py, and test_apps_sockets.py for that of WebSockets.
OF_CONNECTIONS = {Code.NOT_HTTP, Code.TOO_SLOW, Code.HEAD_TOO_LARGE, Code.TOO_MANY_CONNECTIONS, Code.SOCKET_REFUSED}

# The program that serves files says these; see test_files.py, and tests/local/test_files.py.
OF_FILES = {
    Code.FILE_DENIED, Code.FILE_EXISTS, Code.WRONG_KIND, Code.INVALID_PATH, Code.INVALID_RANGE, Code.INVALID_UPLOAD,
    Code.UPLOAD_GONE, Code.UPLOAD_OFFSET, Code.UPLOAD_BUSY, Code.TOO_MANY_UPLOADS, Code.WORKSPACE_FULL,
    Code.FILES_BUSY, Code.FILES_UNAVAILABLE,
}  # fmt: skip


# Said over a WebSocket; see tests/cli/test_exec.py.
OF_TERMINALS = {Code.NO_TERMINAL, Code.TERMINALS_BUSY}


@pytest.mark.parametrize("code", [code for code in Code if code not in OF_CONNECTIONS | OF_FILES | OF_TERMINALS])
def test_a_refusal_has_its_code_and_its_whole_form(api: Api, breaks: Raise, code: Code) -> None:
    response = CASES[code](api, breaks)
    told = problem(response)
    assert (told["code"], told["status"]) == (code, PROBLEMS[code][0])
    assert response.headers["x-request-id"]
    assert ("www-authenticate" in response.headers) == (response.status_code == 401)


def test_every_error_of_a_request_is_told_with_its_place(api: Api) -> None:
    told = problem(invalid_request(api, lambda *_: None))
    assert {e["pointer"] for e in told["errors"]} == {"/body/priority", "/body/a~1b"}


def test_the_reference_lists_the_same_codes_and_statuses() -> None:
    reference = Path(__file__).parents[2] / "docs/reference/errors.md"
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|", reference.read_text(), re.MULTILINE)
    assert {(code, int(status)) for code, status in rows} == {(c.value, s) for c, (s, _) in PROBLEMS.items()}
    assert len(rows) == len(Code)
