"""Plans that the master will not compute now."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.api import Api, problem
from tests.support.documents import job
from tests.support.people import make_token
from tests.support.waiting import until
from zoe_api.access.wire_forms import policy_view
from zoe_api.executions.submissions import checking
from zoe_api.http.turns import AT_ONCE_MAX
from zoe_client import Busy
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.messaging.client import MasterRefused
from zoe_lib.submission.checking import check_description
from zoe_lib.submission.refusal import SubmissionRefused


def test_checks_of_one_user_are_bounded_and_others_go_on(shared_api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """By six tokens, since the requests of one token take turns."""
    begun, may_end, statuses = [], threading.Event(), []
    check_here = check_description

    def slow(*arguments: Any) -> Any:
        begun.append(1)
        assert may_end.wait(60)
        return check_here(*arguments)

    def check(path: str, token: str) -> None:
        answer = shared_api.http(token).post(f"/api/v1/{path}", json={"application": job()})
        statuses.append(answer.status_code)

    monkeypatch.setattr(checking, "check_description", slow)
    asked = [(path, make_token(shared_api.store)) for path in ["validate", "plan"] * 3]
    threads = [threading.Thread(target=check, args=one) for one in asked]
    for thread in threads:
        thread.start()
    until(lambda: statuses == [429, 429])
    assert len(begun) == 4
    others = shared_api.http(shared_api.admin).post("/api/v1/convert", json={"document": {}})
    assert problem(others)["code"] == "invalid_description"
    may_end.set()
    for thread in threads:
        thread.join(60)
    assert len(begun) == 4
    assert shared_api.http().post("/api/v1/validate", json={"application": job()}).status_code == 200


def test_questions_of_one_token_take_turns(shared_api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_end = [], threading.Event()

    def slow(*_: Any) -> Any:
        begun.append(1)
        assert may_end.wait(60)
        raise SubmissionRefused("never_fits")

    monkeypatch.setattr(checking, "check_description", slow)
    with ThreadPoolExecutor(5) as threads:
        asked = [threads.submit(validate_job, shared_api) for _ in range(5)]
        until(lambda: len(begun) == AT_ONCE_MAX)
        assert shared_api.http().get("/api/v1/me").status_code == 200
        assert len(begun) == AT_ONCE_MAX
        may_end.set()
        assert {one.result(60) for one in asked} == {422}


def validate_job(api: Api) -> int:
    return api.http().post("/api/v1/validate", json={"application": job()}).status_code


@pytest.fixture
def asked(shared_api: Api, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a busy master was asked, and for whom."""
    seen: list[Any] = []

    def ask(kind: str, _body: object = None, _request_id: object = None, asker: str = "") -> dict[str, Any]:
        seen.append((kind, asker))
        raise MasterRefused("plan_busy", f"a {kind} of yours is being computed")

    monkeypatch.setattr(shared_api.master_client, "ask", ask)
    return seen


def test_a_busy_master_is_told_with_when_to_try_again(shared_api: Api, asked: list[Any]) -> None:
    http, admin = shared_api.http(), shared_api.http(shared_api.admin)
    answers = [
        http.post("/api/v1/plan", json={"application": job()}),
        admin.post("/api/v1/policy/dry-run", json=policy_view(Policy()).model_dump()),
    ]
    for answer in answers:
        refused = problem(answer)
        assert (refused["status"], refused["code"], answer.headers["retry-after"]) == (429, "plan_busy", "1")
        assert "of yours" in refused["detail"]
        assert "each user may have one plan" in refused["hint"]
    assert [kind for kind, _ in asked] == ["plan", "dry_run"]
    assert all(asker for _, asker in asked)
    assert asked[0][1] == http.get("/api/v1/me").json()["user"]


def test_the_sdk_says_that_it_is_busy(shared_api: Api, asked: list[Any]) -> None:
    with pytest.raises(Busy):
        shared_api.client().plan(job())
