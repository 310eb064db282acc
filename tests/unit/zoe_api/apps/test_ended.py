"""Pages in place of applications that do not run."""

from __future__ import annotations

import html

import pytest
from starlette.requests import Request

from tests.support.applications import application
from zoe_api.apps.ended import page_of, zoe_url_of
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Mark
from zoe_lib.domain.values.frozen import changed

EXECUTION = Execution("x1", "my <lab>", "red", "ann", application(), 0.0)


def text_of(execution: Execution, zoe_url: str | None = "https://zoe.example.org", status: int = 410) -> str:
    answer = page_of(execution, zoe_url)
    assert answer.status_code == status
    page = bytes(answer.body).decode()
    assert "<lab>" not in page
    return html.unescape(page)


def test_it_says_who_ended_it_and_how_to_go_on() -> None:
    ended = changed(
        EXECUTION,
        state=ExecutionState.CANCELLED,
        cause=Cause.CANCELLED,
        message="cancelled by bob",
        marks={Mark.ENDED: 1e9},
    )
    page = text_of(ended)
    assert "my <lab> was cancelled" in page
    assert "Cancelled by bob. It ended on 09 September 2001, 01:46 UTC." in page
    assert '<a href="https://zoe.example.org/clone/x1">Run again</a>' in page
    assert '<a href="https://zoe.example.org/executions">Executions</a>' in page
    assert "href" not in text_of(ended, None)


def test_it_says_the_exit_code() -> None:
    failed = changed(EXECUTION, state=ExecutionState.FAILED, cause=Cause.EXITED, exit_code=7)
    assert "<p>Exit code 7. Files" in text_of(failed)
    assert "is stopping" in text_of(changed(EXECUTION, state=ExecutionState.STOPPING))


def test_what_has_not_started_asks_again() -> None:
    page = text_of(changed(EXECUTION, state=ExecutionState.QUEUED), status=404)
    assert "has not started yet" in page
    assert 'http-equiv="refresh"' in page
    assert "Run again" not in page


@pytest.mark.parametrize(
    ("domain", "public", "cookie", "url"),
    [
        ("apps.localhost", None, "", "http://localhost:5100"),
        ("apps.localhost", None, "zoe-by-address=1", "http://127.0.0.1:5100"),
        ("apps.zoe.example.org", None, "zoe-by-address=1", "http://zoe.example.org:5100"),
        ("apps.localhost", "https://zoe.example.org/", "", "https://zoe.example.org"),
        ("zoe-apps.example.org", None, "", None),
    ],
)
def test_where_zoe_is(domain: str, public: str | None, cookie: str, url: str | None) -> None:
    headers = [(b"host", f"x1.{domain}:5100".encode()), (b"cookie", cookie.encode())]
    request = Request({"type": "http", "scheme": "http", "path": "/", "headers": headers, "query_string": b""})
    assert zoe_url_of(request, domain, public) == url
