"""Stored applications and schedules in the database."""

from __future__ import annotations

from zoe_lib.store.sql.batch import schedules as rows
from zoe_lib.store.sql.connection.database import Database, read_method, write_method
from zoe_lib.store.sql.visible import stored_applications as stored


class ScheduleStore:
    """Stored applications and schedules. Thread-safe; each method is one transaction, and may raise StoreUnavailable. A
    method is documented at the function that it runs.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    put_application = write_method(stored.put)
    applications = read_method(stored.read)
    application = read_method(stored.read_version)
    versions = read_method(stored.versions)
    remove_application = write_method(stored.remove)
    hand_over_applications = write_method(stored.hand_over)

    put = write_method(rows.put)
    read = read_method(rows.read)
    one = read_method(rows.read_schedule)
    change = write_method(rows.change)
    remove = write_method(rows.remove)
    hand_over = write_method(rows.hand_over)
    due = read_method(rows.due)
    next_at_s = read_method(rows.next_at_s)
    advance = write_method(rows.advance)
    runs = read_method(rows.runs)
    known_runs = read_method(rows.known_runs)
    last_runs = read_method(rows.last_runs)
    unended = read_method(rows.unfinished_runs)
    executions_of = read_method(rows.executions_of)
