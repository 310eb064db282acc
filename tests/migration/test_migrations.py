"""Migrations lead to the tables, and back."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import MetaData, create_engine, inspect, text

from storage_controller.database.tables import metadata as of_controller
from tests.support.applications import execution
from tests.support.postgres import PostgresServer
from zoe_lib.store.errors import StoreError, StoreUnavailable
from zoe_lib.store.postgres import migrate
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.tables import metadata


@pytest.fixture
def empty_url(postgres_server: PostgresServer) -> Iterator[str]:
    url = postgres_server.create_empty_database()
    yield url
    postgres_server.drop_database(url)


def differences(url: str, expected: MetaData = metadata) -> list[object]:
    """Differences in the schema of these tables."""

    def of_schema(name: str | None, kind: str, _parents: object) -> bool:
        return kind != "schema" or name == expected.schema

    engine = create_engine(url)
    with engine.connect() as connection:
        options = {"compare_type": True, "include_schemas": True, "include_name": of_schema}
        context = MigrationContext.configure(connection, opts=options)
        found: list[object] = compare_metadata(context, expected)
    engine.dispose()
    return found


def tables(url: str) -> set[str]:
    engine = create_engine(url)
    names = set(inspect(engine).get_table_names())
    engine.dispose()
    return names


def test_migrations_equal_the_tables(empty_url: str) -> None:
    assert differences(empty_url)
    migrate.upgrade(empty_url)
    assert differences(empty_url) == []
    assert tables(empty_url) == set(metadata.tables) | {"alembic_version"}


def test_migrations_equal_the_tables_of_the_storage_controller(empty_url: str) -> None:
    assert differences(empty_url, of_controller)
    migrate.upgrade(empty_url)
    assert differences(empty_url, of_controller) == []


def test_up_down_and_up_again(empty_url: str) -> None:
    assert not migrate.up_to_date(empty_url)
    migrate.upgrade(empty_url)
    assert migrate.up_to_date(empty_url)
    migrate.downgrade(empty_url, "base")
    assert tables(empty_url) == {"alembic_version"}
    migrate.upgrade(empty_url)
    assert differences(empty_url) == []


def test_an_upgrade_keeps_what_is_there(postgres_url: str) -> None:
    with closing(PostgresStore(postgres_url)) as store:
        stored = store.submit(execution(), "request")
        migrate.upgrade(postgres_url)
        assert store.execution(stored.id) == stored


def test_executions_that_an_older_version_stored_are_read(postgres_url: str) -> None:
    with closing(PostgresStore(postgres_url)) as store:
        stored = store.submit(execution(), "request")
        migrate.downgrade(postgres_url, "0057")
        migrate.upgrade(postgres_url)
        assert store.execution(stored.id) == stored


def test_tables_before_the_first_migration_are_refused_by_name(postgres_url: str) -> None:
    engine = create_engine(postgres_url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0056'"))
    engine.dispose()
    with pytest.raises(StoreError, match=r"before 0\.3\.0 \(0056\): run zoe-setup of Zoe 0\.3\.0, then that of this"):
        migrate.upgrade(postgres_url)


def test_processes_that_start_together_migrate_once(empty_url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: migrate.upgrade(empty_url), range(4)))
    assert migrate.up_to_date(empty_url)


def test_an_unreachable_database_is_named() -> None:
    with pytest.raises(StoreUnavailable):
        migrate.upgrade("postgresql+psycopg2://zoe@/zoe?host=/nonexistent")
