"""The store's nodes from command line and SDK to a storage controller: their health, and a restart; admins only."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from storage_controller.settings import NodeKind, NodeSettings
from tests.support.api import Api, problem
from tests.support.asked_controller import asks
from tests.support.people import make_token
from tests.support.storage_controller import served_controller
from tests.support.waiting import until
from zoe_cli.commands.storage import nodes as storage_nodes
from zoe_cli.main import app
from zoe_client import Client

NOWHERE = "http://127.0.0.1:1"
NODES = {
    "object-1": NodeSettings(kind=NodeKind.OBJECT, url=NOWHERE, restart=["/bin/echo", "began"]),
    "object-2": NodeSettings(kind=NodeKind.OBJECT, url=NOWHERE, restart=["/bin/sh", "-c", "echo no unit; exit 5"]),
    "proxy": NodeSettings(kind=NodeKind.PROXY, url=NOWHERE),
}


@pytest.fixture
def admin(api: Api, postgres_url: str) -> Iterator[Client]:
    """The API asks a controller."""
    with served_controller(postgres_url, nodes=NODES) as controller:
        asks(api, controller)
        yield api.client(api.admin)


def test_an_admin_sees_the_nodes_and_restarts_one(api: Api, admin: Client) -> None:
    found = admin.storage_nodes().nodes
    assert [(node.name, node.kind, node.state, node.restartable) for node in found] == [
        ("object-1", "object", "away", True),
        ("object-2", "object", "away", True),
        ("proxy", "proxy", "away", False),
    ]
    assert all(re.fullmatch(r"no answer for \d+ s: connection refused", node.reason) for node in found)
    assert [(controller.name, controller.kind) for controller in admin.storage_controllers().controllers] == [
        ("bandwidth", "bandwidth"),
        ("health", "health"),
    ]
    assert admin.set_storage_controller("health", "dry").mode == "dry"
    assert "in a dry run" in admin.storage_nodes().nodes[0].reason
    assert admin.restart_storage_node("object-1").restart is not None
    until(lambda: (one := admin.storage_nodes().nodes[0].restart) is not None and one.ended_s is not None)
    done = admin.storage_nodes().nodes[0].restart
    assert done is not None
    assert (done.author, done.code, done.output) == ("root", 0, "began")
    [entry] = [entry for entry in api.store.accounts.audit(None, 100) if entry.action == "restart_storage_node"]
    assert (entry.user, entry.status) == ("root", 202)
    assert "object-1" in str(entry)


def test_impossible_restart_is_refused_with_the_controllers_sentence(api: Api, admin: Client) -> None:
    http = api.http(api.admin)
    for name, sentence, status, code in (
        ("proxy", "set swift_nodes.proxy.restart", 422, "storage_rule_refused"),
        ("absent", "no node absent", 404, "not_found"),
    ):
        answer = http.post(f"/api/v1/storage/nodes/{name}/restart")
        assert (answer.status_code, problem(answer)["code"]) == (status, code)
        assert sentence in problem(answer)["detail"]
    assert http.post("/api/v1/storage/nodes/a%20b/restart").status_code == 422


def test_others_than_admins_see_and_restart_nothing(api: Api, admin: Client) -> None:
    operator = api.http(make_token(api.store, tenant="red", user="olga", scopes=("read", "submit", "operate")))
    for http in (api.http(), operator):
        assert http.get("/api/v1/storage/nodes").status_code == 403
        assert http.post("/api/v1/storage/nodes/object-1/restart").status_code == 403
    assert admin.storage_nodes().nodes[0].restart is None


def test_the_command_line(api: Api, admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZOE_URL", api.url)
    monkeypatch.setenv("ZOE_TOKEN", api.admin)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(storage_nodes, "_LOOKED_S_MAX", 0.5)  # no server answers at these addresses
    run = CliRunner()
    for arguments, said, code in (
        (["nodes"], "connection refused", 0),
        (["restart", "object-1"], "began", 0),
        (["restart", "object-2"], "ended with 5", 5),
        (["restart", "object-1", "--no-wait"], "object-1", 0),
    ):
        done = run.invoke(app, ["storage", *arguments])
        assert (done.exit_code, said in done.output) == (code, True), (arguments, done.output)
        if said == "began":
            assert done.output.index("began") < done.output.index("NODE"), "first the action, then the node's state"
    assert "set swift_nodes.proxy.restart" in str(run.invoke(app, ["storage", "restart", "proxy"]).exception)
