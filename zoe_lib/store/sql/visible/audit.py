"""The audit log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, delete, insert, select, update

from zoe_lib.store.documents.rows import Values, from_row, row_of
from zoe_lib.store.documents.text import storable
from zoe_lib.store.people import AuditEntry
from zoe_lib.store.tables.accounts import audit


def add(connection: Connection, entry: AuditEntry) -> int:
    """Add an entry; return its id."""
    entry_id: int = connection.execute(insert(audit).values(values_of(entry)).returning(audit.c.id)).scalar_one()
    return entry_id


def values_of(entry: AuditEntry) -> Values:
    """Return the row of an entry, without the id, which the database assigns."""
    values = row_of(entry)
    del values["id"]
    return values


def end(
    connection: Connection, entry_id: int, status: int, changes: Mapping[str, Sequence[object]] | None = None
) -> None:
    """Record the outcome of an entry's change, and the changed values."""
    connection.execute(update(audit).where(audit.c.id == entry_id).values(status=status, changes=dict(changes or {})))


def read(
    connection: Connection, before_id: int | None, limit: int, user: str | None = None, action: str | None = None
) -> Sequence[AuditEntry]:
    """Return entries newest first, with ids below `before_id`."""
    if not (storable(user) and storable(action)):
        return ()
    statement = select(audit).order_by(audit.c.id.desc()).limit(limit)
    if before_id is not None:
        statement = statement.where(audit.c.id < before_id)
    if user is not None:
        statement = statement.where(audit.c.user_name == user)
    if action is not None:
        statement = statement.where(audit.c.action == action)
    return [from_row(AuditEntry, row) for row in connection.execute(statement)]


def prune(connection: Connection, to_s: float) -> None:
    """Remove older entries."""
    connection.execute(delete(audit).where(audit.c.at_s <= to_s))
