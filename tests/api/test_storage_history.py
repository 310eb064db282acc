"""The store's side of executions, from the master's answer to API, SDK and command line: who sees what."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.support.api import Api
from tests.support.documents import job
from tests.support.people import make_token
from zoe_cli.main import app
from zoe_client import Client, NotAllowed, NotFound

USES = [
    {"subject": "request/GET/meters", "done": 4, "refused": 1, "read_bytes": 90_000_000, "written_bytes": 0},
    {"subject": "request/HEAD/", "done": 1, "refused": 0, "read_bytes": 0, "written_bytes": 0},
    {"subject": "cpu/GET/meters", "done": 2_500_000, "refused": 0, "read_bytes": 0, "written_bytes": 0},
    {"subject": "rule/7/COMPRESSION/get", "done": 4, "refused": 0, "read_bytes": 0, "written_bytes": 0},
    {"subject": "limit/get", "done": 2, "refused": 0, "read_bytes": 60, "written_bytes": 0},
]


class Asked(list[dict[str, Any]]):
    """What the API asked the master for. executions: those that moved bytes."""

    executions: tuple[str, ...] = ()


@pytest.fixture
def asked(api: Api) -> Asked:
    found = Asked()

    def ask(kind: str, body: dict[str, Any], *_: object) -> dict[str, Any]:
        assert (kind, body["do"]) == ("storage_rules", "history")
        found.append(body)
        points = [{"at_s": time.time() - 60, "read_bytes": 90_000_000, "written_bytes": 0}]
        names = (body["execution"],) if "execution" in body else found.executions
        told = {name: {"uses": USES, "points": points} for name in names}
        return {"stretch_s": body["stretch_s"], "executions": told}

    api.master_client.ask = ask  # type: ignore[method-assign]
    return found


@pytest.fixture
def red(api: Api) -> Client:
    return api.client()


def test_an_execution_has_its_requests_its_rules_and_its_bytes_over_time(api: Api, asked: Asked, red: Client) -> None:
    execution = red.submit(job("true", name="reader"))
    told = red.execution_storage(execution.id)
    assert [(one.method, one.container, one.done, one.refused) for one in told.requests] == [
        ("GET", "meters", 4, 1),
        ("HEAD", "", 1, 0),
    ]
    assert [one.cpu_s for one in told.requests] == [2.5, 0.0]
    assert [(one.rule, one.filter, one.way, one.requests) for one in told.rules] == [
        (None, "BANDWIDTH", "read", 2),
        (7, "COMPRESSION", "read", 4),
    ]
    assert (told.execution_id, told.name, told.tenant) == (execution.id, "reader", "red")
    assert [one.read_bytes for one in told.points] == [90_000_000]
    stranger = api.client(make_token(api.store, "bob", "blue"))
    with pytest.raises(NotFound):
        stranger.execution_storage(execution.id)
    assert len(asked) == 1, "the master is not asked about what somebody may not see"


def test_a_tenant_sees_its_own_executions_and_an_operator_all(api: Api, asked: Asked, red: Client) -> None:
    execution = red.submit(job("true", name="reader"))
    asked.executions = (execution.id, "forgotten")
    [one] = red.storage_history(time.time() - 3600).executions
    assert (one.execution_id, asked[-1]["tenant"]) == (execution.id, "red")
    with pytest.raises(NotAllowed):
        red.storage_history(time.time() - 3600, tenant="blue")
    admin = api.client(api.admin)
    assert [one.execution_id for one in admin.storage_history(0.0, tenant="red").executions] == [execution.id]
    stranger = api.client(make_token(api.store, "bob", "blue"))
    assert stranger.storage_history(0.0).executions == [], "whatever a controller says"


def test_the_command_line_draws_the_time_of_executions(api: Api, asked: Asked, red: Client) -> None:
    execution = red.submit(job("true", name="reader"))
    asked.executions = (execution.id,)
    runner = CliRunner(env={"ZOE_URL": api.url, "ZOE_TOKEN": api.token, "COLUMNS": "200"})
    printed = runner.invoke(app, ["storage", "history"]).output
    [row] = [line for line in printed.splitlines() if execution.id in line]
    assert "reader" in row
    assert "90 MB" in row
    assert "7 COMPRESSION" in row
    assert "#" in row
    one = runner.invoke(app, ["storage", "history", execution.id]).output
    for words in ("GET", "meters", "COMPRESSION", "BANDWIDTH"):
        assert words in one
    document = json.loads(runner.invoke(app, ["storage", "history", execution.id, "-o", "json"]).output)
    assert document["requests"][0]["container"] == "meters"
    asked.executions = ()
    nothing = runner.invoke(app, ["storage", "history", "--hours", "2"])
    assert "No execution of red moved bytes" in nothing.output
