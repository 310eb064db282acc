"""A database of an older version, as it was dumped while Zoe ran, goes on under this one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from tests.support.api import Api
from tests.support.postgres import PostgresServer
from tests.support.waiting import until
from zoe_client import Client
from zoe_lib.domain.cluster.platform import BackendCapabilities, Platform
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.domain.executions.limits import Limit, LimitSubject
from zoe_lib.domain.executions.promises import StoreCapacity
from zoe_lib.store.postgres import migrate
from zoe_lib.store.postgres.store import PostgresStore

DUMP = Path(__file__).with_name("revision_0023.sql")
LIMITS = Path(__file__).with_name("revision_0027.sql")
TWO_TABLES = Path(__file__).with_name("revision_0026.sql")
TOKEN = "zoe_316acc7a3b83_5468cf4548a8be8298a7c2ef31eea57b0f4793ba25dccf4c"
DONE, FAILED, RUNNING, WAITING = "x1m82nbtcj5g2a9", "x1m82nbtg361kws", "x1m82nbtkvth827", "x1m82nbtqxeh13g"


@pytest.fixture
def url(postgres_server: PostgresServer) -> Iterator[str]:
    url = postgres_server.create_empty_database()
    migrate.upgrade(url, "0023")
    execute(url, DUMP.read_text())
    migrate.upgrade(url)
    yield url
    postgres_server.drop_database(url)


def execute(url: str, statements: str) -> None:
    with closing(psycopg2.connect(url.replace("+psycopg2", ""))) as connection, connection.cursor() as cursor:
        cursor.execute(statements)
        connection.commit()


@pytest.mark.parametrize("capabilities", [True, False])
def test_what_the_store_can_promise_and_what_can_run_are_kept_in_both_directions(
    postgres_server: PostgresServer, capabilities: bool
) -> None:
    """Also where no master has told of capabilities yet."""
    url = postgres_server.create_empty_database()
    migrate.upgrade(url, "0026")
    execute(url, TWO_TABLES.read_text())
    able = BackendCapabilities(images=("shell", "python"), commandless=("shell",), host_paths=("/data",))
    if not capabilities:
        able = BackendCapabilities()
        execute(url, "DELETE FROM capabilities")
    for _ in range(2):
        migrate.upgrade(url)
        with closing(PostgresStore(url)) as store:
            assert store.whole_platform() == Platform((), able, StoreCapacity(400_000_000, 200_000_000))
        migrate.downgrade(url, "0026")
    migrate.upgrade(url)
    with closing(PostgresStore(url)) as store:
        store.set_capabilities(able, StoreCapacity(2**70, 1), 1.0, None)
    migrate.downgrade(url, "0026")
    with closing(psycopg2.connect(url.replace("+psycopg2", ""))) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT read_bytes_per_s, write_bytes_per_s FROM storage_capacity")
        assert cursor.fetchall() == [(2**63 - 1, 1)]
    postgres_server.drop_database(url)


def test_quotas_and_limits_are_kept_in_both_directions(postgres_server: PostgresServer) -> None:
    url = postgres_server.create_empty_database()
    migrate.upgrade(url, "0027")
    execute(url, LIMITS.read_text())
    before = tenants_and_policy(url)
    for _ in range(2):
        migrate.upgrade(url)
        with closing(PostgresStore(url)) as store:
            policy = store.policy()
        assert (policy.version, policy.order) == (7, "hrrn")
        assert policy.limits.of("red") == Limit(20, 43200.5, 8000, None, 200_000_000, None)
        assert policy.limits.of("red", "ada") == Limit(4, None, 4000, 2**34)
        assert policy.limits.of("gone") == Limit(), "an empty entry is one, as it was"
        assert policy.limits.of("green") == policy.limits.of("blue") == Limit(None, None, 64000, 2**53 + 1)
        assert policy.limits.of("blue", "eve") == Limit(2, None, 4000, 2**34)
        migrate.downgrade(url, "0027")
        assert tenants_and_policy(url) == before
    migrate.upgrade(url)
    with closing(PostgresStore(url)) as store:
        store.change_limits(lambda limits: limits.changed(LimitSubject(), {"executions": 9}), 1.0, "test")
    migrate.downgrade(url, "0027")
    assert [row[:2] for row in tenants_and_policy(url)[0]] == [("blue", 9), ("green", 9), ("red", 20)]
    postgres_server.drop_database(url)


def test_limits_are_kept_where_no_policy_was_set(postgres_server: PostgresServer) -> None:
    url = postgres_server.create_empty_database()
    migrate.upgrade(url, "0027")
    execute(url, "INSERT INTO tenants (name, executions_max) VALUES ('red', 3)")
    migrate.upgrade(url)
    with closing(PostgresStore(url)) as store:
        assert (store.policy().version, store.policy().limits.of("red")) == (0, Limit(3))
    migrate.downgrade(url, "0027")
    assert tenants_and_policy(url) == ([("red", 3, None, None)], None)
    postgres_server.drop_database(url)


def tenants_and_policy(url: str) -> tuple[Any, Any]:
    """What revision 0027 has of limits; an amount that an entry left out is null."""
    with closing(psycopg2.connect(url.replace("+psycopg2", ""))) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT name, executions_max, executions_of_user_max, time_limit_s_max FROM tenants ORDER BY 1")
        tenants = cursor.fetchall()
        cursor.execute("SELECT version, data FROM policy")
        row = cursor.fetchone()
    if row is None:
        return tenants, None
    for entry in row[1]["tenant_limits"].values():
        for rate in ("cores_milli", "memory_bytes", "read_bytes_per_s", "write_bytes_per_s"):
            entry.setdefault(rate, None)
    return tenants, row


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
        states = {one.id: one.state for one in client.executions().executions}
        assert [states[one] for one in (DONE, FAILED, RUNNING, WAITING)] == [
            ExecutionState.SUCCEEDED,
            ExecutionState.FAILED,
            ExecutionState.RUNNING,
            ExecutionState.QUEUED,
        ]
        for execution_id in states:
            assert client.events(execution_id).events[0].kind == "submitted"
        assert client.quota().executions.limit == 20


def test_a_master_goes_on_with_it(api: Api) -> None:
    """What ran on a node that is gone runs again, and what waits can be cancelled."""
    api.start_master()
    with Client(api.url, TOKEN) as client:
        until(lambda: client.execution(RUNNING).attempt == 2, lambda: client.execution(RUNNING))
        until(lambda: client.execution(RUNNING).state is ExecutionState.RUNNING, lambda: client.execution(RUNNING))
        client.cancel(WAITING)
        assert client.wait(WAITING, 30).state is ExecutionState.CANCELLED
