"""A terminal gets a token that a signed-in user allows in a browser, and no other program gets one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.support.api import Api, problem
from tests.support.browser import Browser
from zoe_api.people import machines

MACHINES, TOKEN = "/api/v1/session/machines", "/api/v1/session/machine-token"


@pytest.fixture
def api(postgres_url: str) -> Iterator[Api]:
    made = Api(postgres_url)
    yield made
    made.close()


@pytest.fixture
def page(api: Api) -> httpx.Client:
    """The browser of a signed-in user, with the proof of its page."""
    return Browser(api).use()


def asked(api: Api, **wanted: object) -> dict[str, Any]:
    answer = api.http(None).post(MACHINES, json={"machine": "ann@laptop", **wanted})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def told(api: Api, secret: str) -> httpx.Response:
    return api.http(None).post(TOKEN, json={"secret": secret})


def decided(page: httpx.Client, code: str, allow: bool = True) -> httpx.Response:
    return page.put(f"{MACHINES}/{code}", json={"allow": allow})


def test_a_machine_gets_a_token_of_its_own_once_it_is_allowed(api: Api, page: httpx.Client) -> None:
    wanted = asked(api, lifetime_s=3600)
    assert told(api, wanted["secret"]).json() == {"state": "waiting", "token": None}
    shown = page.get(f"{MACHINES}/{wanted['code']}").json()
    assert (shown["machine"], shown["scopes"], shown["same_network"]) == ("ann@laptop", ["read", "submit"], True)
    assert shown["token_expires_at_s"] == pytest.approx(time.time() + 3600, abs=60)
    assert decided(page, wanted["code"].lower().replace("-", " ")).status_code == 204
    token = told(api, wanted["secret"]).json()["token"]
    me = api.http(token).get("/api/v1/me").json()
    assert (me["user"], me["tenant"], me["scopes"]) == ("ben", "red", ["read", "submit"])
    [kept] = page.get("/api/v1/tokens").json()["tokens"]
    assert (kept["note"], kept["expires_at_s"]) == (
        "zoe login on ann@laptop",
        pytest.approx(shown["token_expires_at_s"], abs=60),
    )
    page.delete(f"/api/v1/tokens/{kept['id']}").raise_for_status()
    assert problem(api.http(token).get("/api/v1/me"))["code"] == "bad_token"


def test_decision_and_token_are_audited(api: Api, page: httpx.Client) -> None:
    wanted = asked(api)
    decided(page, wanted["code"])
    told(api, wanted["secret"])
    entries = [
        (e.user, e.action, e.status) for e in reversed(api.store.accounts.audit(None, 9)) if e.action != "sign_in"
    ]
    assert entries == [("ben", "decide_on_machine", 204), ("ben", "get_machine_token", 200)]


def test_a_token_comes_once_also_to_two_at_the_same_time(api: Api, page: httpx.Client) -> None:
    wanted = asked(api)
    decided(page, wanted["code"])
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: told(api, wanted["secret"]), range(4)))
    assert sorted(answer.status_code for answer in answers) == [200, 404, 404, 404]
    assert len(page.get("/api/v1/tokens").json()["tokens"]) == 1


def test_a_machine_that_is_refused_gets_nothing_and_is_not_allowed_later(api: Api, page: httpx.Client) -> None:
    wanted = asked(api)
    assert decided(page, wanted["code"], allow=False).status_code == 204
    assert told(api, wanted["secret"]).json() == {"state": "refused", "token": None}
    assert decided(page, wanted["code"]).status_code == 404


def test_a_code_is_decided_on_once(api: Api, page: httpx.Client) -> None:
    wanted = asked(api)
    other = Browser(api, "cleo").use()
    assert decided(page, wanted["code"]).status_code == 204
    for client in (page, other):
        assert decided(client, wanted["code"]).status_code == 404
        assert client.get(f"{MACHINES}/{wanted['code']}").status_code == 404
    token = told(api, wanted["secret"]).json()["token"]
    assert api.http(token).get("/api/v1/me").json()["user"] == "ben"


@pytest.mark.parametrize("end", ["sign out", "end access", "leave", "disable"])
def test_ended_session_gives_no_token(api: Api, page: httpx.Client, end: str) -> None:
    wanted = asked(api)
    decided(page, wanted["code"])
    match end:
        case "sign out":
            page.delete("/api/v1/session").raise_for_status()
        case "end access":
            api.store.accounts.end_access("ben")
        case "leave":
            api.store.accounts.remove_member("ben", "red")
        case "disable":
            api.store.accounts.set_disabled("ben", True)
    assert told(api, wanted["secret"]).status_code == 404
    assert api.store.accounts.tokens("ben") == []


def test_a_request_ends_after_ten_minutes(api: Api, page: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines, "WAITS_S", 0.0)
    wanted = asked(api)
    assert told(api, wanted["secret"]).status_code == 404
    assert decided(page, wanted["code"]).status_code == 404


def test_a_token_never_has_more_than_the_role_or_lasts_longer_than_a_sessions_may(api: Api) -> None:
    viewer = Browser(api, "vic", "viewer").use()
    wanted = asked(api, scopes=["read", "submit", "admin"], lifetime_s=10 * 365 * 86400)
    shown = viewer.get(f"{MACHINES}/{wanted['code']}").json()
    assert shown["scopes"] == ["read"]
    decided(viewer, wanted["code"])
    token = told(api, wanted["secret"]).json()["token"]
    assert api.http(token).get("/api/v1/me").json()["scopes"] == ["read"]
    [kept] = api.store.accounts.tokens("vic")
    longest_s = api.settings.session_token_lifetime_s_max
    assert kept.expires_at_s == pytest.approx(time.time() + longest_s, abs=60)
    nothing = asked(api, scopes=["admin"])
    assert problem(decided(viewer, nothing["code"]))["code"] == "role_missing"


def test_only_the_page_of_a_session_allows_a_machine(api: Api, page: httpx.Client) -> None:
    """Neither a token, nor a cookie alone, nor a page of another site."""
    code = asked(api)["code"]
    token = page.post("/api/v1/tokens", json={"scopes": ["read", "submit"], "note": "x"}).json()["secret"]
    assert problem(decided(api.http(token), code))["code"] == "session_needed"
    assert problem(decided(api.http(None), code))["code"] == "no_token"
    only_cookie = api.http(None, cookies=dict(page.cookies))
    assert problem(decided(only_cookie, code))["code"] == "csrf_token_missing"
    foreign = page.put(f"{MACHINES}/{code}", json={"allow": True}, headers={"Origin": "https://evil.example"})
    assert problem(foreign)["code"] == "foreign_origin"


def test_codes_cannot_be_found_by_trying(api: Api, page: httpx.Client) -> None:
    code = asked(api)["code"]
    for number in range(machines.WRONG_CODES_MAX):
        assert page.get(f"{MACHINES}/BCDF-{number}").status_code == 404
    for ask in (page.get(f"{MACHINES}/{code}"), decided(page, code)):
        assert problem(ask)["code"] == "too_many_sign_ins"
    other = Browser(api, "cleo").use()
    assert other.get(f"{MACHINES}/{code}").status_code == 200


def test_right_codes_do_not_count(api: Api, page: httpx.Client) -> None:
    code = asked(api)["code"]
    for _ in range(machines.WRONG_CODES_MAX + 2):
        assert page.get(f"{MACHINES}/{code}").status_code == 200


def test_requests_that_wait_are_bounded_for_each_network_and_in_all(
    api: Api, page: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machines, "WAITING_OF_NETWORK_MAX", 10)
    wanted = [asked(api) for _ in range(machines.WAITING_OF_NETWORK_MAX)]
    assert problem(api.http(None).post(MACHINES, json={"machine": "x"}))["code"] == "sign_in_busy"
    decided(page, wanted[0]["code"])
    assert told(api, wanted[0]["secret"]).json()["state"] == "allowed"
    asked(api)
    monkeypatch.setattr(machines, "WAITING_OF_NETWORK_MAX", 10**6)
    monkeypatch.setattr(machines, "WAITING_MAX", machines.WAITING_MAX and 10)
    assert problem(api.http(None).post(MACHINES, json={"machine": "x"}))["code"] == "sign_in_busy"


def test_two_at_the_same_time_do_not_both_take_the_last_place(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines, "WAITING_OF_NETWORK_MAX", 3)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: api.http(None).post(MACHINES, json={"machine": "x"}), range(8)))
    assert sorted(answer.status_code for answer in answers) == [201] * 3 + [429] * 5


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"machine": ""},
        {"machine": "x" * 64},
        {"machine": "<b>bank</b>"},
        {"machine": "a\u202eb"},
        {"machine": "a\nb"},
        {"machine": "x", "scopes": []},
        {"machine": "x", "scopes": ["root"]},
        {"machine": "x", "lifetime_s": 0},
        {"machine": "x", "lifetime_s": 1e308},
    ],
)
def test_hostile_requests_are_refused(shared_api: Api, body: dict[str, object]) -> None:
    assert shared_api.http(None).post(MACHINES, json=body).status_code == 422


def test_secrets_and_codes_that_are_none_are_not_found(api: Api, page: httpx.Client) -> None:
    assert told(api, "x").status_code == 404
    assert told(api, "x" * 200).status_code == 422
    headers = {"Content-Type": "application/json"}
    half = api.http(None).post(TOKEN, content=b'{"secret": "\\ud83d"}', headers=headers)
    assert half.status_code in (400, 404, 422)
    assert page.get(f"{MACHINES}/%00").status_code in (400, 404)
    code = asked(api)["code"]
    assert told(api, code).status_code == 404
