"""Write the list of an array, once."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import Connection, delete, text, update

from zoe_lib.domain.applications.entries import Entry
from zoe_lib.domain.executions.arrays import Array, ArrayEventKind, ArrayId, awaits_list, with_end_time, with_entries
from zoe_lib.domain.values.frozen import changed
from zoe_lib.store.documents.documents import Applications
from zoe_lib.store.errors import NotFound
from zoe_lib.store.sql.batch.arrays import changing_columns, locked_of, record, record_end, write_states
from zoe_lib.store.tables.arrays import array_states, arrays

# One statement for all: ten thousand single inserts would hold the array's lock for a second.
_INSERT = text("""
    INSERT INTO array_entries (array_id, position, entry)
    SELECT :array_id, given.place - 1, given.entry
    FROM unnest(CAST(:entries AS text[])) WITH ORDINALITY AS given (entry, place)
""")


def write_entries(
    connection: Connection,
    applications: Applications,
    array_id: ArrayId,
    entries: Sequence[Entry],
    at_s: float,
    cause_id: str,
) -> Array:
    """Write the entries of an array that awaits its list; return the changed array, unchanged if it awaits none.

    NotFound.
    """
    before = locked_of(connection, applications, [array_id]).get(array_id)
    if before is None:
        raise NotFound(f"array {array_id} does not exist")
    if not awaits_list(before):
        return before
    after = with_end_time(changed(with_entries(before, len(entries)), version=before.version + 1), at_s)
    row = {**changing_columns(applications, after), "indices": str(after.indices)}
    connection.execute(update(arrays).where(arrays.c.id == array_id), row)
    connection.execute(delete(array_states).where(array_states.c.array_id == array_id))
    write_states(connection, array_id, b"", bytes(len(entries)))
    connection.execute(_INSERT, {"array_id": array_id, "entries": [json.dumps(entry) for entry in entries]})
    record(connection, after, ArrayEventKind.LISTED, at_s, cause_id, {"entries": len(entries)})
    if after.ended_at_s is not None:
        record_end(connection, after, at_s, cause_id)
    return after
