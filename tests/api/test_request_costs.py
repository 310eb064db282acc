"""What a request costs: changes of threads, and questions to the database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio.to_thread
import httpx
import pytest

from tests.support.api import Api
from tests.support.documents import job
from tests.support.statements import statements_of

EXECUTIONS = "/api/v1/executions"


@pytest.fixture
def changes(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The functions that the API gives to other threads from now on."""
    found: list[object] = []
    run_sync = anyio.to_thread.run_sync

    def noted(work: Callable[..., object], *more: Any, **named: Any) -> Any:
        found.append(work)
        return run_sync(work, *more, **named)

    monkeypatch.setattr(anyio.to_thread, "run_sync", noted)
    return found


def submit(http: httpx.Client, **headers: str) -> httpx.Response:
    answer = http.post(EXECUTIONS, json={"application": job()}, headers=headers)
    assert answer.status_code == 201, answer.text
    return answer


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "once"}, {"Prefer": "return=minimal"}])
def test_a_submission_takes_one_thread_and_two_statements(
    api: Api, changes: list[object], headers: dict[str, str]
) -> None:
    """One asks for the client and whether the terms have changed, the other writes."""
    http = api.http()
    submit(http)
    changes.clear()
    with statements_of(api.store) as asked:
        submit(http, **headers)
    assert [statement.split()[1] for statement, _ in asked] == ["zoe_token_and_terms", "zoe_submit"]
    assert len(changes) == 1


def test_terms_that_have_changed_are_read_again(api: Api, changes: list[object]) -> None:
    http = api.http()
    submit(http)
    api.client(api.admin).set_policy(api.client(api.admin).policy())
    with statements_of(api.store) as asked:
        submit(http)
    assert len(asked) > 2
    with statements_of(api.store) as asked:
        submit(http)
    assert len(asked) == 2


@pytest.mark.parametrize("path", ["", "/{id}", "/{id}/events", "/unknown"])
def test_a_question_takes_one_thread(api: Api, changes: list[object], path: str) -> None:
    http = api.http()
    execution_id = submit(http).json()["id"]
    changes.clear()
    answer = http.get(EXECUTIONS + path.format(id=execution_id))
    assert answer.status_code == (404 if path == "/unknown" else 200)
    assert len(changes) == 1


def test_a_batch_is_checked_against_what_its_client_was_looked_up_with(api: Api) -> None:
    http = api.http()
    submit(http)
    bodies = [{"application": job(f"command {number}")} for number in range(5)]
    with statements_of(api.store) as asked:
        assert http.post(f"{EXECUTIONS}:batch", json={"executions": bodies}).status_code == 201
    assert [statement for statement, _ in asked if "zoe_versions" in statement] == []
