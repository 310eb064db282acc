"""Limits of tenants and users, by the command and the API, and by the older names for some of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.support.api import Api, TickingMaster, make_token
from tests.support.documents import document, part, sized
from tests.support.waiting import until
from zoe_cli.main import app
from zoe_client import NotFound, QuotaExceeded, Refused
from zoe_client.wire import LimitAmounts, PolicyView
from zoe_lib.domain.executions.execution import ExecutionState

OTHERS = {"read_bytes_per_s": None, "write_bytes_per_s": None}


@pytest.fixture
def api(api: Api) -> Api:
    api.store.accounts.ensure_member("eve", "red", "user")
    return api


def zoe(api: Api, *words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["--url", api.url, "--token", api.admin, "admin", "limit", *words])
    assert done.exit_code == code, done.output
    return done.output


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_an_admin_sets_cores_and_executions_and_a_user_submits_past_them(api: Api) -> None:
    api.start_master()
    zoe(api, "set", "--tenant", "red", "--cores", "4", "--executions", "2")
    client = api.client()
    first, second = (client.submit(sized(3, "sleep", "60", name=name)) for name in ("first", "second"))
    with pytest.raises(QuotaExceeded, match="maximum for red: 2 executions"):
        client.submit(sized(1, "true", name="third"))
    until(lambda: client.execution(first.id).state is ExecutionState.RUNNING)
    told = client.explain(second.id).reason
    assert told.code == "tenant_limit"
    assert "holds 3 cores" in told.sentence
    assert "at most 4 cores" in told.sentence
    shown = rows(zoe(api, "get", "--tenant", "red"))
    assert ["executions", "2", "2"] in shown
    assert ["cores", "3", "4"] in shown
    mine = client.quota()
    assert (mine.executions.used, mine.executions.limit, mine.cores_milli.used, mine.cores_milli.limit) == (
        2,
        2,
        3000,
        4000,
    )


def test_a_limit_is_a_new_version_of_the_policy_that_says_it(api: Api) -> None:
    client = api.client(api.admin)
    client.admin.set_limit(LimitAmounts(cores_milli=4000), "red")
    assert client.policy().version == 1
    assert client.policy().model_dump()["tenant_limits"] == {
        "red": {"cores_milli": 4000, "memory_bytes": None, **OTHERS}
    }
    client.admin.set_limit(LimitAmounts(executions=4), "red")
    assert client.policy().version == 1, "no document of the policy says it"
    etag = {"If-Match": '"0"'}
    answer = api.http(api.admin).put("/api/v1/policy", json=client.policy().model_dump(), headers=etag)
    assert answer.status_code in (409, 412)


def test_an_older_document_of_the_policy_changes_the_same_limits_and_leaves_the_others(api: Api) -> None:
    client = api.client(api.admin)
    client.admin.set_quota("red", 5, 2, 3600.0)
    client.admin.set_limit(LimitAmounts(memory_bytes=7, cores_milli=9000))
    client.admin.set_limit(LimitAmounts(cores_milli=4000), "red")
    client.set_policy(client.policy())
    assert limits_of(api) == {
        ("*", None): {"memory_bytes": 7, "cores_milli": 9000},
        ("red", None): {"executions": 5, "time_limit_s": 3600.0, "cores_milli": 4000},
        ("red", "*"): {"executions": 2},
    }, "unchanged amounts still follow the default"
    changed = {**client.policy().model_dump(), "tenant_limits": {"red": {"memory_bytes": 8}}}
    client.set_policy(PolicyView.model_validate(changed))
    assert limits_of(api) == {
        ("red", None): {"executions": 5, "time_limit_s": 3600.0, "cores_milli": None, "memory_bytes": 8, **OTHERS},
        ("red", "*"): {"executions": 2},
    }
    client.set_policy(client.policy().model_copy(update={"tenant_limits": {}, "user_limits": {}}))
    assert limits_of(api) == {("red", None): {"executions": 5, "time_limit_s": 3600.0}, ("red", "*"): {"executions": 2}}
    tenant = client.admin.tenants().tenants[0]
    assert (tenant.executions_max, tenant.executions_of_user_max, tenant.time_limit_s_max) == (5, 2, 3600.0)


def limits_of(api: Api) -> dict[Any, Any]:
    return {(limit.tenant, limit.user): limit.amounts for limit in api.client(api.admin).admin.limits().limits}


def test_the_narrowest_limit_that_says_an_amount_holds(api: Api) -> None:
    admin = api.client(api.admin).admin
    zoe(api, "set", "--executions", "3", "--hours", "2")
    zoe(api, "set", "--each-user", "--executions", "1")
    zoe(api, "set", "--tenant", "red", "--user", "eve", "--executions", "2", "--cores", "1")
    zoe(api, "set", "--tenant", "red", "--executions", "none")
    eve, ada = api.client(make_token(api.store, "eve", "red")), api.client()
    assert [client.quota().executions_of_user.limit for client in (eve, ada)] == [2, 1]
    assert (ada.quota().executions.limit, ada.quota().time_limit_s_max) == (None, 7200.0)
    for _ in range(2):
        eve.submit(document(part("main")))
    ada.submit(document(part("main")))
    for client, most in ((eve, 2), (ada, 1)):
        with pytest.raises(QuotaExceeded, match=f"in red: {most}"):
            client.submit(document(part("main")))
    zoe(api, "clear", "--tenant", "red", "--user", "eve", "--only", "executions")
    assert eve.quota().executions_of_user.limit == 1
    assert admin.limits("red", "eve").meters[-1].meters["cores_milli"].limit == 1000
    zoe(api, "clear", "--tenant", "red")
    assert eve.quota().executions.limit == 3
    assert [line[0] for line in rows(zoe(api, "list"))[1:]] == ["all", "all", "red"]


def test_a_limit_of_one_user_makes_that_one_wait(api: Api, master: TickingMaster) -> None:
    api.client(api.admin).admin.set_limit(LimitAmounts(cores_milli=1000), "red", "eve")
    eve, ada = api.client(make_token(api.store, "eve", "red")), api.client()
    waits, runs = eve.submit(sized(2, "sleep", "60")), ada.submit(sized(2, "sleep", "60"))
    until(lambda: ada.execution(runs.id).state is ExecutionState.RUNNING)
    assert eve.explain(waits.id).reason.code == "user_limit"
    assert eve.policy().user_limits["red/eve"].cores_milli == 1000
    assert ada.policy().user_limits == {}, "it is not about ada"


def test_invalid_limit_is_refused(api: Api) -> None:
    admin = api.client(api.admin).admin
    for where, amounts in (
        ({"tenant": "blu"}, LimitAmounts(executions=1)),
        ({"tenant": "red", "user": "nobody"}, LimitAmounts(executions=1)),
    ):
        with pytest.raises(NotFound):
            admin.set_limit(amounts, **where)
    with pytest.raises(Refused) as refused:
        admin.set_limit(LimitAmounts(time_limit_s=60.0), "red", "*")
    assert [(error.pointer, error.message) for error in refused.value.problem.errors] == [
        (
            "/body/amounts/time_limit_s",
            "time_limit_s is a limit of tenants; users have limits of executions, cores_milli, memory_bytes",
        )
    ]
    with pytest.raises(Refused, match="give the tenant"):
        admin.set_limit(LimitAmounts(executions=1), "*", "eve")
    with pytest.raises(NotFound, match="no limit is set for each user of red"):
        admin.clear_limit("red", "*")
    assert "neither a size" in zoe(api, "set", "--memory", "much", code=2)
    assert "give at least one" in zoe(api, "set", "--tenant", "red", code=2)
    assert "either --user or --each-user" in zoe(api, "get", "--user", "eve", "--each-user", code=2)
    assert "'gpus' is not an amount" in zoe(api, "clear", "--only", "gpus", code=2)
    assert api.http().get("/api/v1/admin/limits").status_code == 403


def test_a_quota_says_what_holds_and_changes_only_what_differs(api: Api) -> None:
    admin = api.client(api.admin).admin
    admin.set_limit(LimitAmounts(executions=6))
    assert admin.tenants().tenants[0].executions_max == 6
    admin.set_quota("red", 6, 3)
    assert limits_of(api) == {("*", None): {"executions": 6}, ("red", "*"): {"executions": 3}}
    admin.set_quota("red", None, 3)
    assert limits_of(api)["red", None] == {"executions": None}
    assert api.client().quota().executions.limit is None


def test_the_audit_log_has_old_and_new_amounts(api: Api) -> None:
    zoe(api, "set", "--tenant", "red", "--cores", "4")
    zoe(api, "clear", "--tenant", "red")
    cleared, changed = api.client(api.admin).admin.audit().entries[:2]
    assert (changed.action, changed.changes) == ("set_limit", {"cores_milli": [None, 4000]})
    assert (cleared.action, cleared.changes) == ("clear_limit", {"cores_milli": [4000, None]})


def test_the_command_gives_json(api: Api) -> None:
    done = CliRunner().invoke(
        app, ["--url", api.url, "--token", api.admin, "admin", "limit", "set", "--read", "40MB/s", "-o", "json"]
    )
    assert json.loads(done.stdout) == {"tenant": "*", "user": None, "amounts": {"read_bytes_per_s": 40_000_000}}


@pytest.mark.parametrize("amount", ["cores_milli", "memory_bytes"])
def test_a_limit_that_lets_nothing_run_is_refused(shared_api: Api, amount: str) -> None:
    with pytest.raises(Refused) as refused:
        shared_api.client(shared_api.admin).admin.set_limit(LimitAmounts(**{amount: 0}), "red")
    assert "of 0 lets nothing run" in str(refused.value.problem)
