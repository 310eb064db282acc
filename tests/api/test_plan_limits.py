"""A plan says what a submission would get, for each limit that refuses at submission."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.api import Api
from tests.support.documents import job, sized
from tests.support.limits import Quota, set_quota
from tests.support.people import make_token
from tests.support.waiting import until
from zoe_cli.main import main
from zoe_client.wire import PolicyView

Document = dict[str, Any]
REQUIRED = {"bandwidth": {"read_bytes_per_s": 1_000_000, "guarantee": "required"}}


def priority_limit(api: Api) -> None:
    admin = api.client(api.admin)
    admin.set_policy(PolicyView.model_validate({**admin.policy().model_dump(), "priorities_max": {"red": -1}}))


LIMITS: dict[str, tuple[Callable[[Api], None], Document]] = {
    "none": (lambda api: None, job()),
    "executions": (lambda api: set_quota(api.store, "red", Quota(1)), job()),
    "executions_of_user": (lambda api: set_quota(api.store, "red", Quota(None, 1)), job()),
    "nothing": (lambda api: set_quota(api.store, "red", Quota(0)), job()),
    "hours": (lambda api: set_quota(api.store, "red", Quota(None, None, 60.0)), job(time_limit_s=61)),
    "hours_before_executions": (lambda api: set_quota(api.store, "red", Quota(1, 1, 60.0)), job(time_limit_s=61)),
    "priority": (priority_limit, job(priority=1)),
    "size": (lambda api: set_quota(api.store, "red", Quota(0)), sized(500)),
    "bandwidth": (lambda api: None, job(storage=REQUIRED)),
}


def refusal(answer: Any) -> tuple[Any, ...]:
    body = answer.json()
    if answer.status_code < 300:
        return (200,)
    return answer.status_code, body["code"], body["detail"], body["hint"], body["errors"]


@pytest.mark.parametrize("limit", LIMITS)
def test_a_plan_and_a_submission_are_refused_alike(
    api: Api, limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_limit, document = LIMITS[limit]
    api.client().submit(job())
    api.start_master()
    http = api.http()
    # The store knows its nodes before the master has observed them.
    until(lambda: http.post("/api/v1/plan", json={"application": job()}).status_code == 200)
    set_limit(api)
    planned = http.post("/api/v1/plan", json={"application": document})
    submitted = http.post("/api/v1/executions", json={"application": document})
    assert refusal(planned) == refusal(submitted)
    assert (submitted.status_code == 201) == (limit == "none")
    if limit == "none":
        return
    file = tmp_path / "app.json"
    file.write_text(json.dumps(document))
    told = []
    for command in ("plan", "run"):
        monkeypatch.setattr(sys, "argv", ["zoe", "--url", api.url, "--token", api.token, command, str(file)])
        with pytest.raises(SystemExit) as end:
            main()
        told.append((end.value.code, *capsys.readouterr()))
    assert told[0] == told[1]
    assert submitted.json()["title"] in told[0][2]


def test_any_quota_refuses_plans_and_submissions_alike(api: Api) -> None:
    """Random quotas and numbers of executions of two users of a tenant."""
    api.start_master()
    until(lambda: api.client().nodes().nodes)
    chance = random.Random(9)
    users = [api.http(), api.http(make_token(api.store, "eve", "red"))]
    seen = set()
    for _ in range(30):
        bounds = [chance.choice([None, *range(5)]) for _ in range(2)]
        set_quota(api.store, "red", Quota(*bounds))
        http = chance.choice(users)
        document = job("sleep", "60")
        doors = [http.post(f"/api/v1/{door}", json={"application": document}) for door in ("plan", "executions")]
        answers = [refusal(answer) for answer in doors]
        assert answers[0] == answers[1], bounds
        seen.add(answers[0][:2])
    assert seen == {(200,), (429, "quota_exceeded")}
