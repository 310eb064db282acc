"""Stored applications and schedules in the database."""

from __future__ import annotations

from zoe_lib.store.sql.batch import schedules as rows
from zoe_lib.store.sql.connection.database import Database, reads, writes
from zoe_lib.store.sql.visible import stored_applications as stored


class ScheduleStore:
    """Stored applications and schedules. Thread-safe; each method is one transaction, and may raise StoreUnavailable. A
    method is documented at the function that it runs.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    put_application = writes(stored.put)
    applications = reads(stored.read)
    application = reads(stored.one)
    versions = reads(stored.versions)
    remove_application = writes(stored.remove)
    hand_over_applications = writes(stored.hand_over)

    put = writes(rows.put)
    read = reads(rows.read)
    one = reads(rows.one)
    change = writes(rows.change)
    remove = writes(rows.remove)
    hand_over = writes(rows.hand_over)
    due = reads(rows.due)
    next_at_s = reads(rows.next_at_s)
    advance = writes(rows.advance)
    runs = reads(rows.runs)
    known_runs = reads(rows.known_runs)
    last_runs = reads(rows.last_runs)
    unended = reads(rows.unended)
    executions_of = reads(rows.executions_of)
