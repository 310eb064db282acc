"""Without PostgreSQL, requests fail with a time to retry, streams stay open, and everything continues afterwards."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.support.api import Api, problem
from tests.support.documents import job
from tests.support.postgres import PostgresServer
from tests.support.waiting import until

REQUESTS = [
    ("GET", "/executions", None),
    ("GET", "/status", None),
    ("POST", "/executions", {"application": job()}),
    ("POST", "/executions/x/cancel", None),
    ("POST", "/validate", {"application": job()}),
    ("GET", "/nodes", None),
    ("POST", "/session", {"user": "ada", "password": "correct horse battery"}),
]


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
def test_every_request_says_so_and_when_to_try_again(
    api: Api, postgres_server: PostgresServer, postgres_url: str, method: str, path: str, body: object
) -> None:
    http = api.http()
    with postgres_server.closed(postgres_url):
        answer = http.request(method, f"/api/v1{path}", json=body)
        assert (answer.status_code, problem(answer)["code"]) == (503, "database_unavailable")
        assert int(answer.headers["retry-after"]) >= 1
        assert http.get("/healthz").status_code == 200
        ready = http.get("/readyz")
        assert (ready.status_code, ready.json()["database"]) == (503, "not reachable")
    until(lambda: http.request(method, f"/api/v1{path}", json=body).status_code != 503)


def test_a_stream_stays_open_and_goes_on(api: Api, postgres_server: PostgresServer, postgres_url: str) -> None:
    client, seen, opened = api.client(), [], threading.Event()

    def follow() -> None:
        with api.http().stream("GET", "/api/v1/events") as answer:
            for line in answer.iter_lines():
                opened.set()
                if line.startswith("event: "):
                    seen.append(line)
                    return

    thread = threading.Thread(target=follow)
    thread.start()
    assert opened.wait(60)
    with postgres_server.closed(postgres_url):
        assert api.http().get("/api/v1/nodes").status_code == 503
    until(lambda: api.http().get("/api/v1/nodes").status_code == 200)
    client.submit(job())
    thread.join(60)
    assert seen == ["event: submitted"]


def test_a_server_that_is_paused_is_given_up(api: Api, postgres_server: PostgresServer) -> None:
    """Requests have open connections to it, whose other side answers nothing and does not close them either."""
    requests = [(method, f"/api/v1{path}", body) for method, path, body in REQUESTS[:-1]] * 2

    def ask(request: tuple[str, str, object]) -> httpx.Response:
        method, path, body = request
        return api.http().request(method, path, json=body, timeout=180)

    with ThreadPoolExecutor(len(requests)) as pool:
        list(pool.map(ask, requests))
        with postgres_server.paused():
            answers = list(pool.map(ask, requests))
            assert {problem(answer)["code"] for answer in answers} == {"database_unavailable"}
        until(lambda: all(answer.status_code != 503 for answer in pool.map(ask, requests)))
