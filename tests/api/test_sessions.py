"""Browsers: signing in and out, and what a session is protected from."""

from __future__ import annotations

import hashlib

import httpx
import pytest

from tests.support.api import Api, problem
from tests.support.browser import PASSWORD, Browser
from tests.support.documents import job
from tests.support.people import ALL_SCOPES, make_token
from tests.support.postgres import connect
from tests.support.waiting import until
from zoe_api.http.attempts import guess_limit
from zoe_api.people.sign_in import passwords

SESSION = "/api/v1/session"


def code(answer: httpx.Response) -> str:
    return str(problem(answer)["code"])


def test_sign_in_returns_user_tenant_and_role(api: Api) -> None:
    browser = Browser(api)
    told = browser.sign_in()
    assert (told["user"], told["tenant"], told["role"], told["tenants"]) == ("ben", "red", "user", ["red"])
    assert told["scopes"] == ["read", "submit"]
    assert browser.http.get(SESSION).json() == told | {"csrf_token": ""}
    proof = {"X-CSRF-Token": str(told["csrf_token"])}
    assert browser.http.get(SESSION, headers=proof).json() == told
    assert browser.http.get("/api/v1/me").json()["user"] == "ben"


def test_the_cookie_is_for_this_host_and_not_for_scripts(api: Api) -> None:
    cookie = Browser(api).try_to_sign_in().headers["set-cookie"]
    assert cookie.startswith("zoe-session=")
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    assert "Domain" not in cookie
    proxied = Browser(api)
    proxied.http.headers["X-Forwarded-Proto"] = "https"
    cookie = proxied.try_to_sign_in().headers["set-cookie"]
    assert cookie.startswith("__Host-zoe-session=")
    assert "Secure" in cookie.split("; ")


def test_changes_need_what_only_the_page_knows(api: Api) -> None:
    browser = Browser(api)
    browser.sign_in()
    body = {"application": job()}
    assert code(browser.http.post("/api/v1/executions", json=body)) == "csrf_token_missing"
    other = Browser(api, "cleo")
    other.sign_in()
    wrong = {"X-CSRF-Token": str(other.sign_in()["csrf_token"])}
    assert code(browser.http.post("/api/v1/executions", json=body, headers=wrong)) == "csrf_token_missing"
    assert browser.use().post("/api/v1/executions", json=body).status_code == 201


def test_a_page_acts_in_the_session_that_it_knows_or_not_at_all(api: Api) -> None:
    """Another tab of the browser goes on in another tenant, or as another user: the cookie is of theirs then."""
    browser = Browser(api)
    Browser(api, "ben", "admin", "blue")
    old = {"X-CSRF-Token": str(browser.sign_in("blue")["csrf_token"])}
    assert browser.http.get("/api/v1/me", headers=old).json()["tenant"] == "blue"
    new = browser.http.put(f"{SESSION}/tenant", json={"tenant": "red"}, headers=old).json()
    for method, path in (("POST", "/api/v1/executions"), ("GET", "/api/v1/executions"), ("GET", "/api/v1/events")):
        answer = browser.http.request(method, path, headers=old)
        assert (answer.status_code, code(answer)) == (403, "csrf_token_missing"), (method, path)
    told = browser.http.get(SESSION, headers=old).json()
    assert (told["tenant"], told["csrf_token"]) == ("red", "")
    proof = {"X-CSRF-Token": str(new["csrf_token"])}
    assert browser.http.get("/api/v1/me", headers=proof).json()["tenant"] == "red"


@pytest.mark.parametrize("origin", ["http://elsewhere.example", "null", "http://x.apps.localhost"])
def test_pages_of_other_origins_get_nothing(api: Api, origin: str) -> None:
    http = Browser(api).use()
    for method, path in (("GET", "/api/v1/executions"), ("POST", "/api/v1/executions"), ("DELETE", SESSION)):
        assert code(http.request(method, path, headers={"Origin": origin})) == "foreign_origin"
    fetched = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}
    assert code(http.get("/api/v1/me", headers=fetched)) == "foreign_origin"
    own = {"Origin": api.url, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}
    assert http.get("/api/v1/executions", headers=own).status_code == 200


def test_an_origin_that_is_no_address_is_foreign(api: Api) -> None:
    assert code(Browser(api).use().get("/api/v1/me", headers={"Origin": "http://["})) == "foreign_origin"


@pytest.mark.parametrize("host", ["[", "[::1", "a:b", "x:99999"])
def test_a_host_that_is_no_address_is_refused(shared_api: Api, host: str) -> None:
    assert code(shared_api.http().get("/api/v1/me", headers={"Host": host})) == "http_error"


def test_a_path_that_cannot_be_stored_is_refused_as_others_are(shared_api: Api) -> None:
    answer = shared_api.http(None).get("/api/v1/session/oidc/callback/null%00")
    assert problem(answer)["code"] == "sign_in_failed"
    noted = "/api/v1/session/oidc/callback/null?"  # after the answer
    until(lambda: noted in [entry.target for entry in shared_api.store.accounts.audit(None, 50)])


def test_signed_out_is_out(api: Api) -> None:
    browser = Browser(api)
    http = browser.use()
    stolen = dict(http.cookies)
    assert code(api.http(None, cookies=stolen).delete(SESSION)) == "csrf_token_missing"
    assert http.get("/api/v1/me").status_code == 200
    assert http.delete(SESSION).status_code == 204
    assert code(http.get("/api/v1/me")) == "no_token"
    assert code(api.http(None, cookies=stolen).get("/api/v1/me")) == "session_over"
    assert http.delete(SESSION).status_code == 204


def test_a_session_ends_by_itself(api: Api) -> None:
    api.settings.session_lifetime_s = 0.001
    browser = Browser(api)
    cookie = browser.try_to_sign_in().headers["set-cookie"].split(";")[0].partition("=")
    http = api.http(None, cookies={cookie[0]: cookie[2]})
    assert code(http.get("/api/v1/me")) == "session_over"


def test_only_a_hash_is_kept_of_secrets(api: Api, postgres_url: str) -> None:
    browser = Browser(api)
    proof = str(browser.sign_in()["csrf_token"])
    secret = browser.http.cookies["zoe-session"]
    with connect(postgres_url) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT row_to_json(sessions)::text FROM sessions UNION SELECT row_to_json(users)::text FROM users"
        )
        kept = " ".join(row[0] for row in cursor.fetchall())
    connection.close()
    assert "argon2id" in kept
    assert secret not in kept
    assert proof not in kept
    assert proof not in {secret, hashlib.sha256(secret.encode()).hexdigest()}
    assert PASSWORD not in kept


def test_one_session_for_one_tenant_and_a_choice_between_them(api: Api) -> None:
    api.store.accounts.add_tenant("blue")
    browser = Browser(api)
    api.store.accounts.ensure_member("ben", "blue", "viewer")
    http = browser.use("red")
    api.client(make_token(api.store, "ben")).submit(job())
    assert len(http.get("/api/v1/executions").json()["executions"]) == 1
    before = dict(http.cookies)
    told = http.put(f"{SESSION}/tenant", json={"tenant": "blue"}).json()
    assert (told["tenant"], told["role"], told["tenants"]) == ("blue", "viewer", ["blue", "red"])
    http.headers["X-CSRF-Token"] = told["csrf_token"]
    assert http.get("/api/v1/executions").json()["executions"] == []
    assert code(api.http(None, cookies=before).get("/api/v1/me")) == "session_over"
    assert code(http.put(f"{SESSION}/tenant", json={"tenant": "green"})) == "no_membership"


@pytest.mark.parametrize("scopes", [("read",), ALL_SCOPES])
def test_a_token_does_not_become_a_session(api: Api, scopes: tuple[str, ...]) -> None:
    Browser(api)
    http = api.http(make_token(api.store, "ben", scopes=scopes))
    bodies = {"tenant": {"tenant": "red"}, "password": {"old": PASSWORD, "new": "another long one"}}
    for what, body in bodies.items():
        answer = http.put(f"{SESSION}/{what}", json=body)
        assert (code(answer), "set-cookie" in answer.headers) == ("session_needed", False)
    passwords.verify(api.store.accounts, "ben", PASSWORD, "here")


def test_a_new_password_ends_every_session(api: Api) -> None:
    one, two = Browser(api).use(), Browser(api)  # making the second one sets the password, too
    wrong, right = ({"old": old, "new": "another long one"} for old in ("not the old one", PASSWORD))
    assert code(one.put(f"{SESSION}/password", json=wrong)) == "session_over"
    http = two.use()
    assert code(http.put(f"{SESSION}/password", json=wrong)) == "bad_sign_in"
    assert http.put(f"{SESSION}/password", json=right).status_code == 204
    assert code(http.get("/api/v1/me")) == "session_over"
    passwords.verify(api.store.accounts, "ben", "another long one", "here")


@pytest.mark.parametrize("body", [{"user": "nobody", "password": "x"}, {"user": "a\x00b", "password": "x"}])
def test_strangers_are_told_nothing_of_who_exists(api: Api, body: dict[str, str]) -> None:
    browser = Browser(api)
    strange = problem(browser.http.post(SESSION, json=body))
    wrong = problem(browser.try_to_sign_in(password="wrong"))
    if "\x00" not in body["user"]:
        assert strange == wrong
    assert strange["status"] in (400, 401)


def test_disabled_user_or_user_without_password_is_refused(api: Api) -> None:
    browser = Browser(api)
    api.store.accounts.set_disabled("ben", True)
    assert code(browser.try_to_sign_in()) == "bad_sign_in"
    api.store.accounts.set_disabled("ben", False)
    api.store.accounts.set_password("ben", None)
    assert code(browser.try_to_sign_in()) == "bad_sign_in"


def test_guessing_is_slowed_for_one_user_without_locking_out_others(api: Api) -> None:
    browser, other = Browser(api), Browser(api, "cleo")
    for _ in range(guess_limit.FAILURES_OF_PAIR_MAX):
        browser.try_to_sign_in(password="a guess")
    assert code(browser.try_to_sign_in()) == "too_many_sign_ins"
    assert other.try_to_sign_in().status_code == 200
