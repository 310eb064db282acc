"""The journal: write entries in the order of their commits, and read on from one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, literal_column, select, text, union_all
from sqlalchemy.dialects.postgresql import JSONB

from zoe_lib.domain.events import Event
from zoe_lib.domain.execution import Execution, ExecutionId
from zoe_lib.store.codec import event_data
from zoe_lib.store.execution_tables import journal
from zoe_lib.store.rows import from_row
from zoe_lib.store.text import storable
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
    SELECT pg_notify('{CHANNEL}', max(id)::text) FROM written
""")  # noqa: S608 - made of constants


def write_events(connection: Connection, execution: Execution, events: Sequence[Event]) -> None:
    """Write the events that led to this state of the execution; must be the last step before the commit."""
    first_version = execution.version - len(events) + 1
    connection.execute(
        _WRITE,
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


def write_fact(connection: Connection, kind: str, at_s: float, cause_id: str, data: dict[str, Any]) -> None:
    """Write a fact about the installation."""
    connection.execute(
        _WRITE,
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
    tenant: str | None = None,
    execution_id: ExecutionId | None = None,
    with_data: bool = True,
) -> Sequence[JournalEntry]:
    """Return entries after an id, in order."""
    if not storable(tenant, execution_id):
        return ()
    return [
        from_row(JournalEntry, row)
        for row in connection.execute(query(after_id, limit, tenant, execution_id, with_data))
    ]


def query(
    after_id: int, limit: int, tenant: str | None, execution_id: ExecutionId | None, with_data: bool = True
) -> Select[Any]:
    """Return the statement of `read`. Two ordered scans for a tenant: with an OR, the whole journal would be sorted."""
    columns = [column for column in journal.c if with_data or column is not journal.c.data]
    nothing = () if with_data else (literal_column("'{}'::jsonb", JSONB).label("data"),)

    def part(*conditions: ColumnElement[bool]) -> Select[Any]:
        return (
            select(*columns, *nothing).where(journal.c.id > after_id, *conditions).order_by(journal.c.id).limit(limit)
        )

    if execution_id is not None:
        of_tenant = [journal.c.tenant == tenant] if tenant is not None else []
        return part(journal.c.execution_id == execution_id, *of_tenant)
    if tenant is None:
        return part()
    own, nobodys = part(journal.c.tenant == tenant), part(journal.c.tenant.is_(None))
    both = union_all(select(own.subquery()), select(nobodys.subquery())).subquery()
    return select(both).order_by(both.c.id).limit(limit)


def last_id(connection: Connection) -> int:
    """Return the newest id."""
    newest: int | None = connection.execute(select(func.max(journal.c.id))).scalar_one()
    return newest or 0
