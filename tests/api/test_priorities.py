"""No user gets a priority above what the policy lets their tenant give, by any door; operators do."""

from __future__ import annotations

import itertools

from tests.support.api import Api, InProcess
from tests.support.documents import job
from tests.support.people import make_token
from tests.support.waiting import until
from zoe_lib.domain.policy import PRIORITY_MAX, Policy

BOUNDS: tuple[dict[str, int], ...] = (
    {},
    {"*": 10},
    {"red": 3},
    {"red": 20, "*": -5},
    {"other": -1000},
    {"red": -7, "*": 1000},
)
ASKED = (None, -1000, -7, 0, 3, 4, 10, 11, 1000)


def test_what_is_kept_is_never_above_the_bound(api: Api) -> None:
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
            for default, asked in itertools.product((0, 15), ASKED):
                wanted = default if asked is None else asked
                may = wanted <= most or token == operator
                body = {"application": job(priority=default), "priority": asked}
                kept = http.post("/api/v1/executions", json=body)
                assert kept.status_code == (201 if may else 422), (bounds, body)
                if may:
                    assert kept.json()["priority"] == wanted
                    continue
                refused += 1
                for answer in (kept, http.post("/api/v1/plan", json=body)):
                    told = answer.json()
                    assert (told["code"], told["errors"][0]["pointer"]) == ("priority_too_high", "/priority")
                    assert f"{most} at most" in told["detail"]
                if asked is None:
                    checked = http.post("/api/v1/validate", json={"application": job(priority=default)})
                    assert checked.json()["code"] == "priority_too_high"
    assert refused > 20


def test_the_bound_of_another_tenant_is_not_told(api: Api) -> None:
    api.store.set_policy(Policy(priorities_max={"hidden": 1, "red": 2, "*": 3}), 0, 1.0, "test")
    assert api.http().get("/api/v1/policy").json()["priorities_max"] == {"red": 2, "*": 3}
    assert set(api.http(api.admin).get("/api/v1/policy").json()["priorities_max"]) == {"hidden", "red", "*"}


def test_a_plan_asks_for_no_priority_that_there_is_not(api: Api) -> None:
    answer = api.http().post("/api/v1/plan", json={"application": job(), "priority": 10**9})
    assert answer.json()["code"] == "invalid_request"
