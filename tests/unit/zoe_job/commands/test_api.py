"""API calls of a job: their requests, their retries, and their end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from zoe_job.commands.api import Api, NoApiError, RefusedError

PROBLEM = b'{"code": "job_submits_too_often", "title": "no", "detail": "too often", "hint": "wait"}'


class Answers(HTTPServer):
    """Answers each request with the next of these: status, body and Retry-After; notes what came."""

    def __init__(self, answers: list[tuple[int, bytes, str | None]]) -> None:
        self.answers = answers
        self.seen: list[tuple[str, str, dict[str, str]]] = []
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(BaseHTTPRequestHandler):
    def _answer(self) -> None:
        server = self.server
        assert isinstance(server, Answers)
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        server.seen.append((self.command, self.path, dict(self.headers)))
        status, body, after = server.answers.pop(0)
        self.send_response(status)
        if after is not None:
            self.send_header("Retry-After", after)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PATCH = _answer  # noqa: N815 - names of the standard library

    def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002 - as in the standard library


@contextmanager
def api(
    tmp_path: Path, *answers: tuple[int, bytes, str | None], lasts_s: float = 0.0
) -> Iterator[tuple[Api, Answers, list[float]]]:
    """An API that gives these answers; each pause takes `lasts_s` of the patience at least."""
    (tmp_path / "token").write_text("zoejob_x\n")
    slept: list[float] = []
    with Answers(list(answers)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        environment = {
            "ZOE_API_URL": f"http://127.0.0.1:{server.server_port}/",
            "ZOE_API_TOKEN_FILE": str(tmp_path / "token"),
            "http_proxy": "http://127.0.0.1:1",
        }
        made = Api(environment, slept.append, lambda: sum(slept) + lasts_s * len(slept))
        try:
            yield made, server, slept
        finally:
            server.shutdown()
            thread.join()


def test_a_call_bears_the_token_and_no_proxy_sees_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with api(tmp_path, (200, b'{"a": 1}', None), (201, b"{}", None)) as (calls, server, _):
        assert calls.get("/executions", id=["a", "b"], cursor=None) == {"a": 1}
        assert calls.post("/executions", {"b": 2}, key="k") == {}
    (method, path, headers), (_, _, more) = server.seen
    assert (method, path, headers["Authorization"]) == ("GET", "/api/v1/executions?id=a&id=b", "Bearer zoejob_x")
    assert more["Idempotency-Key"] == "k"


def test_refused_call_is_repeated_after_the_given_time(tmp_path: Path) -> None:
    busy, away = (429, PROBLEM, "7"), (503, PROBLEM, None)
    with api(tmp_path, busy, away, (200, b"{}", None)) as (calls, _, slept):
        assert calls.get("/executions") == {}
    assert slept == [7.0, 1.0]


def test_patience_ends(tmp_path: Path) -> None:
    with api(tmp_path, *[(429, PROBLEM, "60")] * 9) as (calls, server, slept):
        with pytest.raises(RefusedError, match="too often; wait") as refused:
            calls.get("/executions")
        assert (refused.value.status, refused.value.code) == (429, "job_submits_too_often")
        assert (sum(slept), len(server.seen)) == (300.0, 6)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 500])
def test_other_refusals_are_final(tmp_path: Path, status: int) -> None:
    with api(tmp_path, (status, b"no json", None)) as (calls, _, slept):
        with pytest.raises(RefusedError, match=f"answered with {status}"):
            calls.patch("/executions/x1", {})
        assert slept == []


def test_errors_of_a_description_are_told_and_not_counted_only(tmp_path: Path) -> None:
    errors = b'[{"pointer": "/after/0", "message": "there is no such job"}]'
    body = b'{"code": "invalid_description", "title": "no", "detail": "1 error", "errors": ' + errors + b"}"
    with api(tmp_path, (422, body, None)) as (one, _, _), pytest.raises(RefusedError) as refused:
        one.get("/executions")
    assert str(refused.value) == "/after/0: there is no such job"


def test_an_api_that_is_away_is_awaited(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("t")
    slept: list[float] = []
    environment = {"ZOE_API_URL": "http://127.0.0.1:1", "ZOE_API_TOKEN_FILE": str(tmp_path / "token")}
    with pytest.raises(RefusedError, match="does not answer"):
        Api(environment, slept.append, lambda: sum(slept)).get("/executions")
    assert 250 < sum(slept) <= 300


@pytest.mark.parametrize(
    "environment", [{}, {"ZOE_API_URL": "http://a"}, {"ZOE_API_URL": "u", "ZOE_API_TOKEN_FILE": "/none"}]
)
def test_without_a_token_there_is_no_api(environment: dict[str, str]) -> None:
    with pytest.raises(NoApiError):
        Api(environment)
