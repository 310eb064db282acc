"""Write the events of many executions with their projections in one statement."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache

from sqlalchemy import Connection, TextClause, text
from sqlalchemy.dialects import postgresql

from zoe_lib.domain.executions.execution import ExecutionId
from zoe_lib.store import positions
from zoe_lib.store.documents.codec import event_data
from zoe_lib.store.documents.rows import changed_columns, changed_services, changing_values
from zoe_lib.store.sql.batch.writing import SERVICE_STATE
from zoe_lib.store.sql.journal.journal import CHANNEL, JOURNAL_LOCK
from zoe_lib.store.tables.executions import executions, services
from zoe_lib.store.values import ExecutionChange

_SERVICES = ", ".join(services.c.keys())
# The columns that a set changes depend on its kinds of events, of which few occur together.
_STATEMENTS_MAX = 100
_DIALECT = postgresql.dialect()  # type: ignore[no-untyped-call]


def append_all(connection: Connection, changes: Sequence[ExecutionChange]) -> set[ExecutionId]:
    """Write changes of different executions in order; return the ids whose stored version was the expected one."""
    columns = {name for change in changes for name in changed_columns(change.before, change.after)}
    entries = [
        (change.after, version, event)
        for change in changes
        for version, event in enumerate(change.events, change.before.version + 1)
    ]
    row = connection.execute(
        _statement(tuple(sorted(columns))),
        {
            "rows": json.dumps([_row(change, columns) for change in changes]),
            "services": json.dumps([row for c in changes for row in changed_services(c.before, c.after)]),
            "ids": [execution.id for execution, _, _ in entries],
            "tenants": [execution.tenant for execution, _, _ in entries],
            "versions": [version for _, version, _ in entries],
            "kinds": [event.kind for _, _, event in entries],
            "at_s": [event.at_s for _, _, event in entries],
            "cause_ids": [event.cause_id for _, _, event in entries],
            "data": [json.dumps(event_data(event)) for _, _, event in entries],
        },
    ).one()
    positions.note(row.newest)
    return set(row.written or ())


def _row(change: ExecutionChange, columns: set[str]) -> dict[str, object]:
    return {
        "id": change.before.id,
        "expected_version": change.before.version,
        **changing_values(change.after, columns),
    }


@lru_cache(_STATEMENTS_MAX)
def _statement(columns: tuple[str, ...]) -> TextClause:
    """Return the statement that sets these columns.

    Rows are locked in any order: only the leader writes sets, and all others lock one execution at a time. The journal
    comes last: its lock is taken when everything else is written (the counts need it), so that it is held for the
    shortest time and no transaction waits for a row while holding it.
    """
    types = ", ".join(f"{name} {executions.c[name].type.compile(_DIALECT)}" for name in columns)
    assignments = ", ".join(f"{name} = new.{name}" for name in columns)
    states = ", ".join(f"{name} = excluded.{name}" for name in SERVICE_STATE)
    return text(f"""
        WITH new AS MATERIALIZED (
            SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS new (id text, expected_version integer, {types})
        ), changed AS (
            UPDATE executions SET {assignments} FROM new
            WHERE executions.id = new.id AND executions.version = new.expected_version
            RETURNING executions.id
        ), parts AS (
            INSERT INTO services ({_SERVICES})
            SELECT {_SERVICES} FROM jsonb_populate_recordset(NULL::services, CAST(:services AS jsonb))
            WHERE execution_id IN (SELECT id FROM changed)
            ON CONFLICT (id) DO UPDATE SET {states} RETURNING 1
        ), locked AS MATERIALIZED (
            SELECT pg_advisory_xact_lock({JOURNAL_LOCK})
            FROM (SELECT (SELECT count(*) FROM changed) + (SELECT count(*) FROM parts) AS written) AS rows
            WHERE written > 0
        ), entries AS (
            INSERT INTO journal (execution_id, tenant, version, kind, at_s, cause_id, data)
            SELECT entry.execution_id, entry.tenant, entry.version, entry.kind, entry.at_s, entry.cause_id, entry.data
            FROM locked,
                 unnest(CAST(:ids AS text[]), CAST(:tenants AS text[]), CAST(:versions AS integer[]),
                        CAST(:kinds AS text[]), CAST(:at_s AS double precision[]), CAST(:cause_ids AS text[]),
                        CAST(:data AS jsonb[]))
                 WITH ORDINALITY AS entry (execution_id, tenant, version, kind, at_s, cause_id, data, place)
            WHERE entry.execution_id IN (SELECT id FROM changed)
            ORDER BY entry.place
            RETURNING id
        )
        SELECT (SELECT array_agg(id) FROM changed) AS written,
               (SELECT pg_notify('{CHANNEL}', max(id)::text) FROM entries HAVING count(*) > 0) AS told,
               (SELECT max(id) FROM entries) AS newest
    """)  # noqa: S608 - made of names of columns and constants
