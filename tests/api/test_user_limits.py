"""Limits of users, from the admin's policy to the messages for a user."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner

from tests.support.api import Api, problem
from tests.support.documents import Document, document, part
from tests.support.master import TickingMaster
from tests.support.people import make_token
from tests.support.waiting import until
from zoe_cli.main import app
from zoe_client import Client
from zoe_client.wire import UserLimitView
from zoe_lib.domain.executions.execution import ExecutionState

LIMITS = {"red": UserLimitView(cores_milli=3000), "*": UserLimitView(memory_bytes=2**40)}


def of_cores(cores: float) -> Document:
    """For an hour, as its user says."""
    return document(part(resources={"cores": cores, "memory": "1GiB"}), size={"run_time_s": 3600})


def limit(api: Api) -> None:
    admin = api.client(api.admin)
    admin.set_policy(admin.policy().model_copy(update={"user_limits": LIMITS}))


def runs(client: Client, execution_id: str) -> bool:
    return client.execution(execution_id).state is ExecutionState.RUNNING


def test_user_limit_explains_the_wait_and_spares_other_users(api: Api, client: Client, master: TickingMaster) -> None:
    limit(api)
    eve = api.client(make_token(api.store, "eve", "red"))
    first = client.submit(of_cores(2))
    until(lambda: runs(client, first.id))
    waiting, others = client.submit(of_cores(2)), eve.submit(of_cores(3))
    until(lambda: runs(eve, others.id))
    reason = until(lambda: client.execution(waiting.id).reason)
    assert reason is not None
    assert (reason.code, "of at most 3 cores" in reason.sentence, "eve" in reason.sentence) == (
        "user_limit",
        True,
        False,
    )
    explained = client.explain(waiting.id)
    assert explained.reason is not None
    assert explained.reason.code == "user_limit"
    assert explained.change is not None
    assert explained.change.after == 1000
    forecast = until(lambda: client.execution(waiting.id).forecast)
    assert forecast is not None
    assert forecast.wait_s == pytest.approx(3600, abs=60)
    # The tick that saw it may have begun before it was submitted: no time passed before the master looked.
    assert {share.cause for share in client.why_waited(waiting.id).causes} - {"master"} == {"quota"}
    client.cancel(first.id)
    until(lambda: runs(client, waiting.id))


def test_meters_show_ones_own_beside_the_tenants(api: Api, client: Client, master: TickingMaster) -> None:
    limit(api)
    eve = api.client(make_token(api.store, "eve", "red"))
    mine, others = client.submit(of_cores(2)), eve.submit(of_cores(3))
    until(lambda: runs(client, mine.id) and runs(eve, others.id))
    told = client.quota()
    assert (told.cores_milli.used, told.cores_milli.limit) == (5000, None)
    assert (told.cores_milli_of_user.used, told.cores_milli_of_user.limit) == (2000, 3000)
    assert (told.memory_bytes_of_user.used, told.memory_bytes_of_user.limit) == (2**30, None)
    stranger = api.client(make_token(api.store, "ada", "blue")).quota()
    assert (stranger.cores_milli_of_user.used, stranger.memory_bytes_of_user.limit) == (0, 2**40)
    shown = CliRunner().invoke(app, ["--url", api.url, "--token", api.token, "quota"]).stdout
    assert ["your", "cores", "2", "3"] in [line.split() for line in shown.splitlines()]


def test_plans_follow_it_and_an_admin_tries_what_another_limit_would_do(
    api: Api, client: Client, master: TickingMaster
) -> None:
    until(lambda: client.nodes().nodes)
    assert client.plan(of_cores(4)).starts_now
    limit(api)
    planned = until(lambda: None if (plan := client.plan(of_cores(4))).starts_now else plan)
    assert planned is not None
    assert planned.reason is not None
    assert planned.reason.code == "user_limit"
    waiting = client.submit(of_cores(4))
    until(lambda: client.execution(waiting.id).reason)
    zoe = ["--url", api.url, "--token", api.admin, "policy"]
    tried = CliRunner().invoke(app, [*zoe, "set", 'user_limits={"*": {"cores_milli": 4000}}', "--dry-run"])
    assert ["would", "start", "0", "1"] in [line.split() for line in tried.stdout.splitlines()]
    assert CliRunner().invoke(app, [*zoe, "set", 'user_limits={"*": {"cores_milli": 4000}}']).exit_code == 0
    until(lambda: runs(client, waiting.id))
    shown = CliRunner().invoke(app, [*zoe, "get"]).stdout
    assert '{"*": {"cores_milli": 4000, "memory_bytes": null}}' in shown


@pytest.mark.parametrize(
    "limits",
    [
        {"red": {"cores_milli": -1}},
        {"red": {"memory_bytes": "much"}},
        {"red": {"read_bytes_per_s": 1}},
        {"red": {"users": {"ada": {}}}},
        {"red": 3},
        ["red"],
    ],
)
def test_nonsense_is_refused(shared_api: Api, limits: Any) -> None:
    answer = shared_api.http(shared_api.admin).put("/api/v1/policy", json={"user_limits": limits})
    assert problem(answer)["code"] == "invalid_request"
    assert shared_api.store.policy().version == 0


@pytest.mark.parametrize(
    ("field", "key"),
    [
        *(("user_limits", key) for key in ("", "red/", "/ada", "/", "*/ada", "red/*")),
        *(("tenant_limits", key) for key in ("", "red/", "red/ada")),
    ],
)
def test_keys_that_name_nobody_are_refused(shared_api: Api, field: str, key: str) -> None:
    answer = shared_api.http(shared_api.admin).put("/api/v1/policy", json={field: {key: {"cores_milli": 1}}})
    refused = problem(answer)
    assert refused["code"] == "invalid_policy"
    assert f"{field}: {key!r} is not a " in refused["errors"][-1]["message"]
    assert shared_api.store.policy().version == 0
