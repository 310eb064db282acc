"""A database of an older version, dumped while Zoe ran, continues under this one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg2
import pytest

from tests.support.api import Api
from tests.support.postgres import PostgresServer
from tests.support.waiting import until
from zoe_client import Client
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.store.postgres import migrate

DUMP = Path(__file__).with_name("revision_0057.sql")
TOKEN = "zoe_316acc7a3b83_5468cf4548a8be8298a7c2ef31eea57b0f4793ba25dccf4c"
DONE, FAILED, RUNNING, WAITING = "x1m82nbtcj5g2a9", "x1m82nbtg361kws", "x1m82nbtkvth827", "x1m82nbtqxeh13g"


@pytest.fixture
def url(postgres_server: PostgresServer) -> Iterator[str]:
    url = postgres_server.create_empty_database()
    migrate.upgrade(url, "0057")
    execute(url, DUMP.read_text())
    migrate.upgrade(url)
    yield url
    postgres_server.drop_database(url)


def execute(url: str, statements: str) -> None:
    with closing(psycopg2.connect(url.replace("+psycopg2", ""))) as connection, connection.cursor() as cursor:
        cursor.execute(statements)
        connection.commit()


@pytest.fixture
def api(url: str) -> Iterator[Api]:
    api = Api(url)
    yield api
    api.close()


def test_people_sign_in_and_find_what_was_there(api: Api) -> None:
    sign_in = {"user": "ada", "password": "correct horse battery staple"}
    assert api.http(None).post("/api/v1/session", json=sign_in).json()["role"] == "operator"
    with Client(api.url, TOKEN) as client:
        assert client.me().user == "admin"
        assert client.policy().order == "hrrn"
        assert client.policy().tenant_limits["default"].cores_milli == 1000
        states = {execution.id: execution.state for execution in client.executions().executions}
        assert [states[text] for text in (DONE, FAILED, RUNNING, WAITING)] == [
            ExecutionState.SUCCEEDED,
            ExecutionState.FAILED,
            ExecutionState.RUNNING,
            ExecutionState.QUEUED,
        ]
        for execution_id in states:
            assert client.events(execution_id).events[0].kind == "submitted"
        assert client.quota().executions.limit == 20


def test_a_master_goes_on_with_it(api: Api) -> None:
    """Services of a lost node run again, and queued executions can be cancelled."""
    api.start_master()
    with Client(api.url, TOKEN) as client:
        until(lambda: client.execution(RUNNING).attempt == 2, lambda: client.execution(RUNNING))
        until(lambda: client.execution(RUNNING).state is ExecutionState.RUNNING, lambda: client.execution(RUNNING))
        client.cancel(WAITING)
        assert client.wait(WAITING, 30).state is ExecutionState.CANCELLED
