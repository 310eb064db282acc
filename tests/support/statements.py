"""Statements of a store to its database, and the rows that they read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from sqlalchemy import event

from tests.support.postgres import connect
from zoe_lib.store.postgres.store import PostgresStore

Statement = tuple[str, Any]


@contextmanager
def statements_of(store: PostgresStore) -> Iterator[list[Statement]]:
    """Collect the statements of a store, each with its parameters."""
    found: list[Statement] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if not statement.startswith("PREPARE "):  # once for each connection, whatever the work
            found.append((statement, parameters))

    database = store.database
    engines = (database._reader, database._writer, database._single)
    for engine in engines:
        event.listen(engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        for engine in engines:
            event.remove(engine, "before_cursor_execute", note)


def rows_read(url: str, statements: list[Statement]) -> int:
    """Return the rows that PostgreSQL reads from tables and indexes for these queries, including filtered ones."""
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        total = 0
        for statement, parameters in statements:
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters)
            (answer,) = cursor.fetchone() or ("[]",)
            plans = answer if isinstance(answer, list) else json.loads(answer)
            total += sum(_read(plan["Plan"]) for plan in plans)
        return total


def _read(node: dict[str, Any]) -> int:
    here = 0
    if "Scan" in node["Node Type"] and ("Relation Name" in node or "Index Name" in node):
        dropped = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
        here = round((node["Actual Rows"] + dropped) * node["Actual Loops"])
    return here + sum(map(_read, node.get("Plans", ())))


_COPIES = """
    CREATE TEMP TABLE copies AS SELECT 'copy ' || number AS id, number FROM generate_series(1, {count}) AS number;
    INSERT INTO executions SELECT (jsonb_populate_record(one, jsonb_build_object(
        'id', copies.id, 'submitted_at_s', one.submitted_at_s - copies.number))).*
    FROM executions AS one, copies WHERE one.id = '{id}';
    INSERT INTO services SELECT (jsonb_populate_record(part, jsonb_build_object(
        'id', copies.id || part.position, 'execution_id', copies.id))).*
    FROM services AS part, copies WHERE part.execution_id = '{id}';
    INSERT INTO journal (execution_id, tenant, version, kind, at_s, cause_id, data)
    SELECT copies.id, entry.tenant, entry.version, entry.kind, entry.at_s, entry.cause_id, entry.data
    FROM copies, journal AS entry WHERE entry.execution_id = '{id}' ORDER BY copies.number, entry.id;
    DROP TABLE copies;
"""


def copy_execution(url: str, execution_id: str, count: int, analyze: bool = True) -> None:
    """Make this many older copies of an execution with its services and its journal, each a second before the next.

    Without `analyze`, the server does not know their number yet.
    """
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute(_COPIES.format(id=execution_id, count=count))
        if analyze:
            cursor.execute("ANALYZE")
