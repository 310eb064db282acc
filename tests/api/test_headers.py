"""Header values that no honest client sends, request ids, and numbers beyond every bound."""

from __future__ import annotations

import re

import httpx
import pytest

from tests.support.api import Api, InProcess, problem
from tests.support.documents import job

HOSTILE = [
    b"",
    b" ",
    b"a" * 10_000,
    b"'; DROP TABLE executions; --",
    b"../../etc/passwd",
    b"\xff\xfe\xfd",
    b"%00%0d%0aX-Evil: 1",
    "\u0662\u0662".encode(),
    b"{}",
    b"-1",
    b"1e99",
    b"9" * 5000,
]
HEADERS = ["Authorization", "Idempotency-Key", "If-Match", "Last-Event-ID", "X-Request-Id", "Accept", "Content-Type"]


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("name", HEADERS)
def test_a_hostile_header_is_answered(shared_api: Api, name: str, value: bytes) -> None:
    client = httpx.Client(base_url=shared_api.url, transport=InProcess(shared_api.app))
    with client:
        for method, path in (("GET", "/api/v1/me"), ("POST", "/api/v1/executions")):
            headers = {b"Authorization": f"Bearer {shared_api.token}".encode(), name.encode(): value}
            content = b'{"application": {}}' if method == "POST" else None
            response = client.request(method, path, headers=list(headers.items()), content=content)
            assert response.status_code < 500, response.text


@pytest.mark.parametrize("value", HOSTILE[:3] + HOSTILE[5:6], ids=range(4))
def test_a_hostile_scheme_is_no_token(shared_api: Api, value: bytes) -> None:
    headers = {b"Authorization": b"Bearer zoe_" + value + b"_" + value}
    with httpx.Client(base_url=shared_api.url, transport=InProcess(shared_api.app), headers=headers) as client:
        assert problem(client.get("/api/v1/me"))["code"] in ("bad_token", "no_token")


ABSURD = [2**63, 10**400, -1, "\u0661", "1.5", "0x10", ""]
NUMBERS = [
    *(("executions?limit={}", number) for number in ABSURD[2:]),
    *(("events?after={}", number) for number in ABSURD),
    *(("executions/x/events?after={}", number) for number in ABSURD),
    *(("executions/x/services/y/logs?offset={}", number) for number in ABSURD),
]


@pytest.mark.parametrize(("path", "number"), NUMBERS)
def test_numbers_beyond_the_bounds_are_refused(shared_api: Api, path: str, number: object) -> None:
    response = shared_api.http().get(f"/api/v1/{path.format(number)}")
    assert problem(response)["code"] == "invalid_request"


def test_the_largest_page_is_a_setting(shared_api: Api) -> None:
    assert shared_api.http().get("/api/v1/executions", params={"limit": 10**9}).status_code == 200


def test_a_sane_request_id_is_kept_and_becomes_the_cause(shared_api: Api) -> None:
    http = shared_api.http()
    response = http.post("/api/v1/executions", json={"application": job()}, headers={"X-Request-Id": "trace-0123abc"})
    assert response.headers["x-request-id"] == "trace-0123abc"
    events = http.get(f"/api/v1/executions/{response.json()['id']}/events").json()["events"]
    assert events[0]["cause_id"] == "trace-0123abc"


@pytest.mark.parametrize("given", ["two words", "x" * 65, "a\tb", '{"a":1}', "é"])
def test_another_request_id_is_replaced(shared_api: Api, given: str) -> None:
    headers = {"X-Request-Id": given.encode("latin-1")}
    response = shared_api.http().get("/healthz", headers=headers)
    assert response.headers["x-request-id"].startswith("req-")


def test_paths_that_hold_anything_are_answered(shared_api: Api) -> None:
    for part in ("%00", "%ff", "..%2f..", "a" * 5000, "%F0%9F%98%80", "'"):
        response = shared_api.http().get(f"/api/v1/executions/{part}")
        assert problem(response)["code"] in ("not_found", "no_such_route", "invalid_request")


@pytest.mark.parametrize("token", ["", None])
def test_no_answer_is_kept_or_guessed_at(shared_api: Api, token: str | None) -> None:
    http = shared_api.http(token)
    paths = [re.sub(r"{\w+}", "x", path) for path in shared_api.app.openapi()["paths"] if not path.endswith("/events")]
    asked = [("GET", path) for path in [*paths, "/api/v1/nowhere", "/assets/nowhere.js"]]
    asked += [("TRACE", "/api/v1/me"), ("POST", "/api/v1/session")]
    for method, path in asked:
        headers = http.request(method, path).headers
        assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-store", "nosniff"), path
    for host in ("[", "1.apps.localhost"):
        headers = http.get("/", headers={"Host": host}).headers
        assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-store", "nosniff"), host
