"""No user gets a priority above what the policy lets their tenant give, by any door; operators do."""

from __future__ import annotations

import itertools
import json

import pytest
from typer.testing import CliRunner

from tests.support.api import Api, InProcess, problem
from tests.support.documents import job
from tests.support.people import make_token
from tests.support.waiting import until
from zoe_cli.main import app
from zoe_client.vocabulary import PRIORITY_MAX
from zoe_lib.domain.cluster.policy import Policy

BOUNDS: tuple[dict[str, int], ...] = (
    {},
    {"*": 10},
    {"red": 3},
    {"red": 20, "*": -5},
    {"other": -1000},
    {"red": -7, "*": 1000},
)
ASKED = (None, -1000, -7, 0, 3, 4, 10, 11, 1000)


def test_kept_priority_never_exceeds_the_bound(api: Api) -> None:
    """Every bound, priority of the description and of the request, role and door."""
    api.start_master()
    until(lambda: api.store.platform() != [])
    operator = make_token(api.store, "op", "red", "operator", ("read", "submit", "operate"))
    refused = 0
    for bounds in BOUNDS:
        api.store.set_policy(Policy(priorities_max=bounds), api.store.policy().version, 1.0, "test")
        most = bounds.get("red", bounds.get("*", PRIORITY_MAX))
        for token in (api.token, operator):
            http = api.http(token, transport=InProcess(api.app))
            for default, asked in itertools.product((None, 0, 15), ASKED):
                named = default if asked is None else asked
                highest = PRIORITY_MAX if token == operator else most
                wanted = min(0, highest) if named is None else named
                may = wanted <= highest
                described = job() if default is None else job(priority=default)
                body = {"application": described, "priority": asked}
                kept = http.post("/api/v1/executions", json=body)
                assert kept.status_code == (201 if may else 422), (bounds, body)
                if may:
                    assert kept.json()["priority"] == wanted
                    continue
                refused += 1
                for answer in (kept, http.post("/api/v1/plan", json=body)):
                    told = answer.json()
                    assert (told["code"], told["errors"][0]["pointer"]) == ("priority_too_high", "/priority")
                    assert f"the maximum for users of red is {most}" in told["detail"]
                    assert "red" in told["errors"][0]["message"]
                if asked is None:
                    checked = http.post("/api/v1/validate", json={"application": described})
                    assert checked.json()["code"] == "priority_too_high"
    assert refused > 20


def test_the_bound_of_another_tenant_is_not_told(api: Api) -> None:
    api.store.set_policy(Policy(priorities_max={"hidden": 1, "red": 2, "*": 3}), 0, 1.0, "test")
    assert api.http().get("/api/v1/policy").json()["priorities_max"] == {"red": 2, "*": 3}
    assert set(api.http(api.admin).get("/api/v1/policy").json()["priorities_max"]) == {"hidden", "red", "*"}


def test_a_plan_asks_for_no_priority_that_there_is_not(api: Api) -> None:
    answer = api.http().post("/api/v1/plan", json={"application": job(), "priority": 10**9})
    assert answer.json()["code"] == "invalid_request"


def test_default_priority_is_the_highest_allowed_below_zero(api: Api) -> None:
    api.store.set_policy(Policy(priorities_max={"red": -7}), 0, 1.0, "test")
    assert api.client().submit(job()).priority == -7
    kept = api.http().post("/api/v1/executions", json={"application": job(priority=0)})
    assert kept.json()["code"] == "priority_too_high"


NO_NUMBERS: list[tuple[dict[str, object], str]] = [
    ({"priorities_max": {"default": True}}, "/body/priorities_max/default"),
    ({"priorities_max": {"red": False}}, "/body/priorities_max/red"),
    ({"priorities_max": {"red": 2000}}, "/body/priorities_max/red"),
    ({"priorities_max": {"red": "high"}}, "/body/priorities_max/red"),
    ({"tenant_limits": {"red": {"cores_milli": True}}}, "/body/tenant_limits/red/cores_milli"),
    ({"tenant_shares": {"red": True}}, "/body/tenant_shares/red"),
    ({"weighers": {"spread": True}}, "/body/weighers/spread"),
    ({"queue_scan_max": True}, "/body/queue_scan_max"),
]


@pytest.mark.parametrize(("change", "pointer"), NO_NUMBERS)
def test_a_policy_takes_no_truth_for_a_number_and_names_whose_it_is(
    api: Api, change: dict[str, object], pointer: str
) -> None:
    policy = api.http(api.admin).get("/api/v1/policy").json()
    told = problem(api.http(api.admin).put("/api/v1/policy", json={**policy, **change}))
    assert told["errors"][0]["pointer"] == pointer
    assert api.store.policy().version == 0
    (key, value), *_ = change.items()
    zoe = ["--url", api.url, "--token", api.admin, "policy", "set", f"{key}={json.dumps(value)}"]
    said = CliRunner().invoke(app, zoe)
    assert said.exit_code == 2
    assert pointer.removeprefix("/body/").replace("/", ".") in said.stderr.replace("\n", "").replace("│", "").replace(
        " ", ""
    )


@pytest.mark.parametrize("bound", ["executions_max", "executions_of_user_max", "time_limit_s_max"])
def test_a_quota_takes_no_truth_for_a_number(shared_api: Api, bound: str) -> None:
    body = {"executions_max": None, bound: True}
    assert (
        problem(shared_api.http(shared_api.admin).put("/api/v1/admin/tenants/red/quota", json=body))["code"]
        == "invalid_request"
    )
