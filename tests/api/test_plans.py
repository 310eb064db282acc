"""Plans that the master will not compute now."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.support.api import Api, problem
from tests.support.documents import job
from tests.support.waiting import until
from zoe_api.access.wire_forms import policy_view
from zoe_api.executions.submissions import descriptions as routes
from zoe_client import Busy
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.messaging.client import MasterRefused


def test_checks_of_one_user_are_bounded_and_others_go_on(shared_api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_end, statuses = [], threading.Event(), []
    parse = routes._as_submitted

    def slow(*arguments: Any) -> Any:
        begun.append(1)
        assert may_end.wait(60)
        return parse(*arguments)

    def check(path: str) -> None:
        statuses.append(shared_api.http().post(f"/api/v1/{path}", json={"application": job()}).status_code)

    monkeypatch.setattr(routes, "_as_submitted", slow)
    threads = [threading.Thread(target=check, args=(path,)) for path in ["validate", "plan"] * 3]
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
