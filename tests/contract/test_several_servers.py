"""A URL that names several servers, as for a PostgreSQL that fails over: the one that accepts writes is used."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from sqlalchemy import URL, make_url, text
from sqlalchemy.exc import InternalError

from tests.support.applications import execution
from tests.support.postgres import PostgresServer, connect
from zoe_lib.store.backup.backup import back_up
from zoe_lib.store.errors import StoreUnavailable
from zoe_lib.store.postgres import migrate
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.sql.connection.database import CONNECT_ARGUMENTS, Database, connect_arguments

NOBODY_LISTENS = "/nonexistent"


def several(url: str, *others: str) -> URL:
    """The URL of one server with others before it, all wanted for writing."""
    parsed = make_url(url)
    return parsed.update_query_dict(
        {"host": (*others, str(parsed.query["host"])), "target_session_attrs": "read-write"}
    )


@pytest.fixture
def url(postgres_server: PostgresServer) -> Iterator[str]:
    """Of an empty database on the second of two servers, the first of which is away."""
    url = postgres_server.create_empty_database()
    yield several(url, NOBODY_LISTENS).render_as_string(hide_password=False)
    postgres_server.drop_database(url)


def test_everything_that_connects_finds_the_one_that_is_there(url: str, tmp_path: Path) -> None:
    """Migrations, the pools, the connections of leader and listener, and backups."""
    migrate.upgrade(url)
    heard = Event()
    with closing(PostgresStore(url)) as store:
        epoch = store.try_lead("test")
        assert epoch is not None
        assert store.renew_lead(epoch)
        store.subscribe(heard.set)
        submitted = store.submit(execution(), "test")
        assert heard.wait(60)
        assert store.execution(submitted.id) == submitted
    assert back_up(url, tmp_path / "backup", tmp_path / "no.key", "test", time.time()).rows("executions") == 1


def test_a_store_that_only_reads_reads_from_it(url: str) -> None:
    migrate.upgrade(url)
    with closing(PostgresStore(url, read_only=True)) as store:
        assert store.active() == []
        with pytest.raises(InternalError, match="read-only transaction"):
            store.submit(execution(), "test")


def test_no_server_that_accepts_writes_is_none(postgres_server: PostgresServer) -> None:
    """As while a standby has not been promoted yet."""
    url = postgres_server.create_empty_database()
    migrate.upgrade(url)
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute(f"ALTER DATABASE {make_url(url).database} SET default_transaction_read_only = on")
    with closing(PostgresStore(several(url).render_as_string(hide_password=False))) as store:
        with pytest.raises(StoreUnavailable, match="read-only"):
            store.submit(execution(), "test")
        with pytest.raises(StoreUnavailable, match="read-only"):
            store.try_lead("test")
    postgres_server.drop_database(url)


def test_connections_to_a_server_that_became_a_standby_are_left(postgres_url: str) -> None:
    """A standby refuses to write; the next connections of the pool lead to the primary."""
    with closing(Database(postgres_url, pool_size=2)) as database:
        demote(database)
        assert database.write(lambda connection: connection.execute(text(WRITE)).rowcount) == 1


def test_a_database_that_stays_read_only_is_away(postgres_server: PostgresServer) -> None:
    """Not a defect: the client is asked to retry."""
    url = postgres_server.create_database()
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute(f"ALTER DATABASE {make_url(url).database} SET default_transaction_read_only = on")
    with closing(PostgresStore(url)) as store:
        with pytest.raises(StoreUnavailable, match="read-only transaction"):
            store.submit(execution(), "test")
        with pytest.raises(StoreUnavailable, match="read-only transaction"):
            store.try_lead("test")
    postgres_server.drop_database(url)


WRITE = "INSERT INTO tenants (name) VALUES ('fresh')"


def demote(database: Database) -> None:
    """Let the sessions of the pools refuse to write from now on, as those of a standby do."""
    setting = text("SET default_transaction_read_only = on")
    database.write(lambda connection: connection.execute(setting))


@pytest.mark.parametrize(
    ("query", "name", "value"),
    [
        ({}, "connect_timeout", CONNECT_ARGUMENTS["connect_timeout"]),
        ({"connect_timeout": "2"}, "connect_timeout", None),
        ({"tcp_user_timeout": "7000"}, "tcp_user_timeout", None),
        ({"options": "-c work_mem=8MB"}, "options", CONNECT_ARGUMENTS["options"] + " -c work_mem=8MB"),
    ],
)
def test_parameters_of_the_url_override_the_defaults(query: dict[str, str], name: str, value: Any) -> None:
    assert connect_arguments(make_url("postgresql://zoe@/zoe").set(query=query)).get(name) == value


def test_the_url_decides_how_long_to_wait_for_a_connection(postgres_url: str) -> None:
    url = make_url(postgres_url).update_query_dict({"connect_timeout": "2", "options": "-c work_mem=8MB"})
    with closing(Database(url.render_as_string(hide_password=False))) as database:
        assert database.look(lambda connection: connection.execute(text("SHOW work_mem")).scalar_one()) == "8MB"
        assert database.look(lambda connection: connection.execute(text("SHOW timezone")).scalar_one()) == "UTC"
        with closing(database.connect()) as connection:
            assert connection.info.dsn_parameters["connect_timeout"] == "2"
            with connection.cursor() as cursor:
                cursor.execute("SHOW work_mem")
                assert cursor.fetchone() == ("8MB",)
                cursor.execute("SHOW timezone")
                assert cursor.fetchone() == ("UTC",)
