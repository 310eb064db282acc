"""A program that got the cookie of a session, and nothing else, reads at most: nothing is changed by it."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping
from contextlib import closing

import httpx
import pytest

from tests.support.api import Api, problem
from tests.support.browser import PASSWORD, Browser
from tests.support.documents import job
from tests.support.open_routes import WITHOUT_COOKIES
from tests.support.postgres import connect
from zoe_api.access import sessions
from zoe_lib.store.tables import metadata

SIGNING_IN = "/api/v1/session"
CHANGING = {"post", "put", "patch", "delete"}
# Records of refused requests.
RECORDS = {"audit", "sign_in_failures"}


def everything(database_url: str) -> Mapping[str, list[str]]:
    """All rows of all tables but records of refusals."""
    kept: dict[str, list[str]] = {}
    with closing(connect(database_url)) as connection, connection.cursor() as cursor:
        for table in sorted(set(metadata.tables) - RECORDS):
            cursor.execute(f'SELECT row_to_json(t)::text FROM "{table}" t')
            kept[table] = sorted(row[0] for row in cursor.fetchall())
    return kept


def guesses(cookie: str) -> Iterator[dict[str, str]]:
    """Headers that somebody who knows the cookie may send as the proof."""
    digest = hashlib.sha256(cookie.encode()).hexdigest()
    made = hmac.new(cookie.encode(), b"csrf", hashlib.sha256).hexdigest()
    for guess in ("", cookie, digest, made, hashlib.sha256(b"").hexdigest()):
        yield {sessions.CSRF_HEADER: guess}
    yield {}


@pytest.fixture
def browser(api: Api) -> httpx.Client:
    """The admin's, signed in, so that nothing is refused for want of a role; without the proof."""
    made = Browser(api, "alice", "admin")
    made.sign_in()
    return made.http


def paths(api: Api, wanted: set[str]) -> Iterator[tuple[str, str]]:
    """Methods and paths of the API's document, of things that are there."""
    execution = api.client().submit(job())
    token = api.client().tokens().tokens[0]
    values = {"execution_id": execution.id, "token_id": token.id, "user": "ben", "tenant": "red"}
    for path, methods in api.app.openapi()["paths"].items():
        for method in sorted(wanted & methods.keys()):
            yield method.upper(), re.sub(r"{(\w+)}", lambda name: values.get(name[1], "x"), path)


def test_the_cookie_alone_is_refused_on_every_route_that_changes_something(
    api: Api, browser: httpx.Client, postgres_url: str
) -> None:
    Browser(api, "ben")
    routes = list(paths(api, CHANGING))
    before, asked = everything(postgres_url), 0
    for method, path in routes:
        for headers in guesses(browser.cookies["zoe-session"]):
            answer = browser.request(method, path, headers=headers)
            if (method, path) in WITHOUT_COOKIES:
                assert answer.status_code == 422
            else:
                assert (answer.status_code, problem(answer)["code"]) == (403, "csrf_token_missing"), (method, path)
                asked += 1
    assert asked > 100
    assert everything(postgres_url) == before
    assert browser.get("/api/v1/me").status_code == 200


def test_stolen_cookie_changes_no_data_and_reads_no_secret(api: Api, browser: httpx.Client, postgres_url: str) -> None:
    routes = [path for _, path in paths(api, {"get"})]
    proof = browser.post(SIGNING_IN, json={"user": "alice", "password": PASSWORD}).json()["csrf_token"]
    assert len(proof) > 40
    before = everything(postgres_url)
    for path in [*routes, "/"]:
        with browser.stream("GET", path) as answer:  # some never end
            if "event-stream" not in answer.headers.get("content-type", ""):
                answer.read()
                assert proof not in answer.text
                if path == SIGNING_IN:
                    assert answer.json()["csrf_token"] == ""
    assert everything(postgres_url) == before


def test_a_sign_in_ends_the_session_of_the_same_browser_and_the_audit_log_names_its_user(
    api: Api, browser: httpx.Client
) -> None:
    other = Browser(api, "mallory")
    other.http.cookies.set("zoe-session", browser.cookies["zoe-session"], domain="127.0.0.1")
    other.sign_in()
    assert problem(browser.get("/api/v1/me"))["code"] == "session_over"
    newest = next(entry for entry in api.store.accounts.audit(None, 5) if entry.action == "sign_in")
    assert (newest.user, newest.action, newest.changes) == (
        "mallory",
        "sign_in",
        {"ended_sessions_of": ["alice", None]},
    )


def test_a_proof_is_worth_nothing_with_another_session(api: Api) -> None:
    one, two = Browser(api, "alice", "admin"), Browser(api, "ben")
    one.sign_in()
    proof = str(two.sign_in()["csrf_token"])
    headers = {sessions.CSRF_HEADER: proof}
    assert problem(one.http.post("/api/v1/tokens", json={}, headers=headers))["code"] == "csrf_token_missing"
    alone = api.http(None)
    assert problem(alone.post("/api/v1/tokens", json={}, headers=headers))["code"] == "no_token"
    assert two.http.post("/api/v1/tokens", json={}, headers=headers).status_code == 201


def test_a_token_made_in_a_browser_ends(api: Api) -> None:
    api.settings.session_token_lifetime_s_max = 1000.0
    http = Browser(api).use()
    lives = {}
    for wanted in (None, 10.0, 1000.0, 1e6):
        made = http.post("/api/v1/tokens", json={"lifetime_s": wanted}).json()
        lives[wanted] = made["expires_at_s"] - made["created_at_s"]
    assert lives == pytest.approx({None: 1000.0, 10.0: 10.0, 1000.0: 1000.0, 1e6: 1000.0})
    by_token = api.http(http.post("/api/v1/tokens", json={}).json()["secret"]).post("/api/v1/tokens", json={}).json()
    assert by_token["expires_at_s"] - by_token["created_at_s"] <= 1000.0


def test_a_session_of_before_reads_and_signs_in_again(api: Api, postgres_url: str) -> None:
    browser = Browser(api)
    headers = {sessions.CSRF_HEADER: str(browser.sign_in()["csrf_token"])}
    with closing(connect(postgres_url)) as connection, connection, connection.cursor() as cursor:
        cursor.execute("UPDATE sessions SET proof_hash = NULL")
    assert browser.http.get("/api/v1/me").status_code == 200
    assert problem(browser.http.post("/api/v1/tokens", json={}, headers=headers))["code"] == "csrf_token_missing"
    assert browser.use().post("/api/v1/tokens", json={}).status_code == 201
