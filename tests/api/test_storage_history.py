"""The store's records of executions, from a storage controller to API, SDK and command line, and their visibility."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator

import pytest
from typer.testing import CliRunner

from storage_bridge.connect import connect
from storage_bridge.model import BandwidthSlo, StoreExecution
from storage_controller.regulation.transfers import TransferBook
from storage_controller.swift.execution_keys import ExecutionKeys
from storage_filters.execution_auth.names import user_of
from tests.support.api import Api
from tests.support.asked_controller import asks
from tests.support.documents import job
from tests.support.manual_clock import ManualClock
from tests.support.people import make_token
from tests.support.storage_controller import served_controller
from zoe_cli.main import app
from zoe_client import Client, NotAllowed, NotFound

USES = {  # done, refused, read and written bytes
    "request/GET/meters": [4, 1, 90_000_000, 0],
    "request/HEAD/": [1, 0, 0, 0],
    "cpu/GET/meters": [2_500_000, 0, 0, 0],
    "rule/7/COMPRESSION/get": [4, 0, 0, 0],
    "limit/get": [2, 0, 60, 0],
}
FORGOTTEN = "x0forgotten"
Move = Callable[[str], None]


@pytest.fixture
def move(api: Api, postgres_url: str) -> Iterator[Move]:
    """Let an execution of red move bytes at a store whose controller the API asks."""
    with served_controller(postgres_url, ExecutionKeys(b"s" * 32, "AUTH_")) as controller:
        asks(api, controller)
        controller.clock.set(time.time())
        zoe, clock = connect(controller.settings("zoe")), ManualClock(0.0)
        book = TransferBook(controller.ledger, ("p1",), clock)

        def moves(execution_id: str) -> None:
            user = user_of(zoe.set_execution(StoreExecution(execution_id, "red", BandwidthSlo())).user)
            assert user is not None
            name = f"{execution_id}/{user.generation}"
            uses = {f"{name}/{subject}": [1, *amounts] for subject, amounts in USES.items()}
            book.hear("p1", {name: [1, 90_000_000, 0, 0, 0]}, [], uses)
            clock.advance(1.0)
            book.flush()

        yield moves


@pytest.fixture
def red(api: Api) -> Client:
    return api.client()


def test_an_execution_has_its_requests_its_rules_and_its_bytes_over_time(api: Api, move: Move, red: Client) -> None:
    execution = red.submit(job("true", name="reader"))
    move(execution.id)
    told = red.execution_storage(execution.id)
    assert [(request.method, request.container, request.done, request.refused) for request in told.requests] == [
        ("GET", "meters", 4, 1),
        ("HEAD", "", 1, 0),
    ]
    assert [request.cpu_s for request in told.requests] == [2.5, 0.0]
    assert [(rule.rule, rule.filter, rule.way, rule.requests) for rule in told.rules] == [
        (None, "BANDWIDTH", "read", 2),
        (7, "COMPRESSION", "read", 4),
    ]
    assert (told.execution_id, told.name, told.tenant) == (execution.id, "reader", "red")
    assert [point.read_bytes for point in told.points] == [90_000_000]
    stranger = api.client(make_token(api.store, "bob", "blue"))
    with pytest.raises(NotFound):
        stranger.execution_storage(execution.id)


def test_a_tenant_sees_its_own_executions_and_an_operator_all(api: Api, move: Move, red: Client) -> None:
    execution = red.submit(job("true", name="reader"))
    move(execution.id)
    move(FORGOTTEN)
    [one] = red.storage_history(time.time() - 3600).executions
    assert (one.execution_id, one.tenant) == (execution.id, "red")
    with pytest.raises(NotAllowed):
        red.storage_history(time.time() - 3600, tenant="blue")
    admin = api.client(api.admin)
    assert [execution.execution_id for execution in admin.storage_history(0.0, tenant="red").executions] == [
        execution.id
    ]
    stranger = api.client(make_token(api.store, "bob", "blue"))
    assert stranger.storage_history(0.0).executions == []


def test_the_command_line_draws_the_time_of_executions(api: Api, move: Move, red: Client) -> None:
    execution = red.submit(job("true", name="reader"))
    runner = CliRunner(env={"ZOE_URL": api.url, "ZOE_TOKEN": api.token, "COLUMNS": "200"})
    nothing = runner.invoke(app, ["storage", "history", "--hours", "2"])
    assert "No execution of red moved bytes" in nothing.output
    move(execution.id)
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
