"""The audit log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, delete, insert, select, update

from zoe_lib.store.people import AuditEntry
from zoe_lib.store.rows import Values
from zoe_lib.store.tables import audit


def add(connection: Connection, entry: AuditEntry) -> int:
    """Keep an entry; its id."""
    entry_id: int = connection.execute(insert(audit).values(values_of(entry)).returning(audit.c.id)).scalar_one()
    return entry_id


def values_of(entry: AuditEntry) -> Values:
    """Its row, but for the id that the database gives."""
    return {
        "at_s": entry.at_s,
        "user_name": entry.user,
        "tenant": entry.tenant,
        "action": entry.action,
        "target": entry.target,
        "request_id": entry.request_id,
        "by": entry.by,
        "status": entry.status,
        "address": entry.address,
        "changes": dict(entry.changes),
    }


def end(connection: Connection, entry_id: int, status: int, changes: Mapping[str, Sequence[object]]) -> None:
    """Say how it ended."""
    connection.execute(update(audit).where(audit.c.id == entry_id).values(status=status, changes=dict(changes)))


def read(connection: Connection, before_id: int | None, limit: int, user: str | None) -> Sequence[AuditEntry]:
    """Entries newest first."""
    statement = select(audit).order_by(audit.c.id.desc()).limit(limit)
    if before_id is not None:
        statement = statement.where(audit.c.id < before_id)
    if user is not None:
        statement = statement.where(audit.c.user_name == user)
    return [
        AuditEntry(
            row.at_s,
            row.user_name,
            row.tenant,
            row.action,
            row.target,
            row.request_id,
            row.by,
            row.status,
            row.id,
            row.address,
            row.changes,
        )
        for row in connection.execute(statement)
    ]


def prune(connection: Connection, to_s: float) -> None:
    """Forget what is older."""
    connection.execute(delete(audit).where(audit.c.at_s <= to_s))
