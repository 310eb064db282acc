"""The journal: write entries in the order of their commits, and read on from an entry."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, literal_column, or_, select, text, union_all
from sqlalchemy.dialects.postgresql import JSONB

from zoe_lib.domain.applications.sharing import ALL, Visibility
from zoe_lib.domain.executions.arrays import Array
from zoe_lib.domain.executions.events import Event
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.store import positions
from zoe_lib.store.documents.codec import event_data
from zoe_lib.store.documents.rows import from_row
from zoe_lib.store.documents.text import storable
from zoe_lib.store.sql.visible.shares import shared_ids
from zoe_lib.store.tables.arrays import arrays
from zoe_lib.store.tables.executions import executions, journal
from zoe_lib.store.values import JournalEntry

CHANNEL = "zoe_journal"
# Names of advisory locks, in this database only. The first is held from taking an id until its commit: so ids become
# visible in order, and a reader that continues after the last id it saw never misses one.
JOURNAL_LOCK = 0x5A6F65_01
LEADER_LOCK = 0x5A6F65_02

# One round trip, because all writers wait while the lock is held: lock, number, write, notify. The rows come from the
# scan that takes the lock, so that no id is taken before the lock is.
_WRITE = text(f"""
    WITH written AS (
        INSERT INTO journal (execution_id, tenant, version, kind, at_s, cause_id, data)
        SELECT :execution_id, :tenant, entry.version, entry.kind, entry.at_s, entry.cause_id, entry.data
        FROM (SELECT pg_advisory_xact_lock({JOURNAL_LOCK}) OFFSET 0) AS lock,
             unnest(CAST(:versions AS integer[]), CAST(:kinds AS text[]), CAST(:at_s AS double precision[]),
                    CAST(:cause_ids AS text[]), CAST(:data AS jsonb[]))
             WITH ORDINALITY AS entry (version, kind, at_s, cause_id, data, place)
        ORDER BY entry.place
        RETURNING id
    )
    SELECT max(id) AS newest, pg_notify('{CHANNEL}', max(id)::text) FROM written
""")  # noqa: S608 - made of constants


def write_events(connection: Connection, execution: Execution, events: Sequence[Event]) -> None:
    """Write the events that led to this state of the execution; must be the last step before the commit."""
    first_version = execution.version - len(events) + 1
    _write(
        connection,
        {
            "execution_id": execution.id,
            "tenant": execution.tenant,
            "versions": list(range(first_version, execution.version + 1)),
            "kinds": [event.kind for event in events],
            "at_s": [event.at_s for event in events],
            "cause_ids": [event.cause_id for event in events],
            "data": [json.dumps(event_data(event)) for event in events],
        },
    )


def write_of_array(
    connection: Connection, array: Array, kind: str, at_s: float, cause_id: str, data: Mapping[str, object]
) -> None:
    """Write an entry about a whole array, under its id; must be the last step before the commit."""
    _write(
        connection,
        {
            "execution_id": array.id,
            "tenant": array.tenant,
            "versions": [array.version],
            "kinds": [kind],
            "at_s": [at_s],
            "cause_ids": [cause_id],
            "data": [json.dumps(data)],
        },
    )


def _write(connection: Connection, entries: Mapping[str, Any]) -> None:
    positions.note(connection.execute(_WRITE, entries).scalar_one())


def write_fact(connection: Connection, kind: str, at_s: float, cause_id: str, data: dict[str, Any]) -> None:
    """Write a fact about the installation."""
    _write(
        connection,
        {
            "execution_id": None,
            "tenant": None,
            "versions": [None],
            "kinds": [kind],
            "at_s": [at_s],
            "cause_ids": [cause_id],
            "data": [json.dumps(data)],
        },
    )


def read(
    connection: Connection,
    after_id: int,
    limit: int,
    visibility: Visibility = ALL,
    execution_id: ExecutionId | None = None,
    with_data: bool = True,
) -> Sequence[JournalEntry]:
    """Return visible entries after an id, in order."""
    if not storable(visibility.tenant, visibility.user, execution_id):
        return ()
    return [
        from_row(JournalEntry, row)
        for row in connection.execute(query(after_id, limit, visibility, execution_id, with_data))
    ]


def query(
    after_id: int, limit: int, visibility: Visibility, execution_id: ExecutionId | None, with_data: bool = True
) -> Select[Any]:
    """Return the statement of `read`. Two ordered scans for a tenant: with an OR, the whole journal would be sorted."""
    tenant, user = visibility.tenant, visibility.user
    columns = [column for column in journal.c if with_data or column is not journal.c.data]
    nothing = () if with_data else (literal_column("'{}'::jsonb", JSONB).label("data"),)

    def part(*conditions: ColumnElement[bool]) -> Select[Any]:
        return (
            select(*columns, *nothing).where(journal.c.id > after_id, *conditions).order_by(journal.c.id).limit(limit)
        )

    visible = [] if tenant is None else [journal.c.tenant == tenant]
    if tenant is not None and user is not None:
        visible.append(_seen_by(tenant, user))
    if execution_id is not None:
        return part(journal.c.execution_id == execution_id, *visible)
    if tenant is None:
        return part()
    own, nobodys = part(*visible), part(journal.c.tenant.is_(None))
    both = union_all(select(own.subquery()), select(nobodys.subquery())).subquery()
    return select(both).order_by(both.c.id).limit(limit)


def _seen_by(tenant: str, user: str) -> ColumnElement[bool]:
    """Return the condition for entries of a user's own and shared executions, and of none.

    The owner comes from a scalar subquery: a join could change the order of the scan, and all entries would be sorted.
    """
    owner = select(executions.c.user_name).where(executions.c.id == journal.c.execution_id).scalar_subquery()
    of_array = select(arrays.c.user_name).where(arrays.c.id == journal.c.execution_id).scalar_subquery()
    shared = journal.c.execution_id.in_(shared_ids(tenant, user))
    return or_(journal.c.execution_id.is_(None), func.coalesce(owner, of_array) == user, shared)


def last_id(connection: Connection) -> int:
    """Return the newest id."""
    newest: int | None = connection.execute(select(func.max(journal.c.id))).scalar_one()
    return newest or 0
