"""Statements that a connection plans once, and reads that repeat only after a change."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import pytest
from sqlalchemy import Connection

from tests.support.applications import GIB, execution
from tests.support.people import make_token
from tests.support.postgres import connect
from tests.support.statements import copy_execution, statements_of
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.platform import BackendCapabilities
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.promises import StoreCapacity
from zoe_lib.domain.values.resources import Resources
from zoe_lib.store.documents.documents import Applications
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.sql.batch import submitting
from zoe_lib.store.sql.connection.prepared import Prepared

ECHO = Prepared("echo", {"one": "text", "other": "bigint"}, "SELECT :other::text || :one AS told, :one::text AS one")
END_OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND datname = %s AND backend_type = 'client backend'
"""


def prepared(connection: Connection) -> set[str]:
    return set(connection.exec_driver_sql("SELECT name FROM pg_prepared_statements").scalars())


def test_parameters_have_names_and_types(store: PostgresStore) -> None:
    assert store.database.look(lambda c: list(map(tuple, ECHO.rows(c, other=7, one="it's :other")))) == [
        ("7it's :other", "it's :other")
    ]


def test_a_statement_is_prepared_once_for_a_connection_and_stays_so_after_a_rollback(store: PostgresStore) -> None:
    def twice(connection: Connection) -> None:
        for _ in range(2):
            ECHO.rows(connection, one="a", other=1)
        assert "echo" in prepared(connection)
        raise KeyError

    for _ in range(2):
        with pytest.raises(KeyError):
            store.database.write(twice)
    assert store.database.write(prepared) == {"echo"}


def test_a_lost_connection_is_replaced_and_prepares_anew(store: PostgresStore, postgres_url: str) -> None:
    token_id = make_token(store).split("_")[1]
    for _ in range(2):
        assert store.accounts.principal(token_id, 0.0) is not None
        assert store.whole_platform().nodes == ()
        store.submit(execution(1), "request")
        with closing(connect(postgres_url)) as connection, connection.cursor() as cursor:
            cursor.execute(END_OTHERS, (connection.info.dbname,))


def test_principal_of_a_token_takes_one_statement(store: PostgresStore) -> None:
    token_id = make_token(store).split("_")[1]
    with statements_of(store) as asked:
        for _ in range(3):
            assert store.accounts.principal(token_id, 0.0) is not None
    assert len(asked) == 3


READ_IN_ORDER = """
SELECT relname, seq_tup_read FROM pg_stat_xact_user_tables
WHERE relname IN ('executions', 'services', 'journal', 'idempotency_keys', 'audit', 'applications') AND seq_tup_read > 0
"""


def test_a_submission_reads_no_table_whole_that_was_small_when_it_was_planned(
    store: PostgresStore, postgres_url: str
) -> None:
    """The server keeps a plan until it has counted the rows anew, and tables may grow a thousand times by then."""

    def submitted(numbers: range) -> list[tuple[str, int]]:
        def submit(connection: Connection) -> list[tuple[str, int]]:
            for number in numbers:
                key = f"key {number}"
                submitting.write(connection, [submitting.prepare(Applications(), execution(number), "r", key, "")])
            return [(str(table), int(rows)) for table, rows in connection.exec_driver_sql(READ_IN_ORDER)]

        return store.database.write(submit)

    submitted(range(1, 3))
    with closing(connect(postgres_url)) as connection, connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    submitted(range(3, 13))  # by now the server has a plan for all parameters
    copy_execution(postgres_url, execution(1).id, 1000, analyze=False)
    assert submitted(range(13, 14)) == []


def node(name: str) -> Node:
    return Node(name, Resources(4000, 16 * GIB))


CHANGES: list[Callable[[PostgresStore], object]] = [
    lambda store: store.set_platform([node("a")], 1.0, None),
    lambda store: store.set_platform([node("b")], 1.0, None),  # at the same time by the master's clock
    lambda store: store.set_platform([], 1.0, None),
    lambda store: store.set_capabilities(BackendCapabilities(images=("zoe/*",)), None, 1.0, None),
    lambda store: store.set_capabilities(BackendCapabilities(images=("zoe/*",)), StoreCapacity(5, 5), 1.0, None),
    lambda store: store.set_policy(Policy(priorities_max={"*": 3}), 0, 1.0, "request"),
    lambda store: store.set_policy(Policy(priorities_max={"*": 4}), 1, 1.0, "request"),
]


def test_terms_are_read_again_when_another_process_has_changed_them(store: PostgresStore, postgres_url: str) -> None:
    with closing(PostgresStore(postgres_url)) as other:
        for change in CHANGES:
            before = store.terms()
            change(other)
            assert store.terms() != before
            assert store.terms().platform.nodes == tuple(other.platform())
            assert store.terms().policy == other.policy()
            with statements_of(store) as asked:
                assert store.terms() is store.terms()
            assert len(asked) == 2


def test_a_newer_version_may_add_columns_meanwhile(store: PostgresStore, postgres_url: str) -> None:
    """Migrations run while processes of the version before hold connections."""
    token_id = make_token(store).split("_")[1]
    for number, table in enumerate(("executions", "services", "tokens", "policy", "platform", "idempotency_keys"), 1):
        store.submit(execution(number), "request", f"key {number}")
        before = store.accounts.principal(token_id, 0.0), store.terms()
        with closing(connect(postgres_url)) as connection, connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE {table} ADD COLUMN newer text NOT NULL DEFAULT ''")
        assert (store.accounts.principal(token_id, 0.0), store.terms()) == before
    assert len(store.active()) == 6
