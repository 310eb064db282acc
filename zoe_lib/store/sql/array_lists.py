"""Lists of arrays: what they run for, written once, and read in parts as their executions are made."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Connection, delete, select, text, tuple_, update

from zoe_lib.domain.arrays import Array, ArrayEventKind, ArrayId, awaits_list, listed, settled
from zoe_lib.domain.entries import Entry
from zoe_lib.domain.failed_entries import NAMED_MAX, failed_positions, with_failed_entries
from zoe_lib.domain.values import changed
from zoe_lib.store.array_tables import array_entries, array_states, arrays
from zoe_lib.store.documents import Applications
from zoe_lib.store.errors import NotFound
from zoe_lib.store.sql.arrays import changing_columns, locked_of, record, record_end, write_states

# One statement for all: ten thousand rows one by one would hold the array's lock for a second.
_INSERT = text("""
    INSERT INTO array_entries (array_id, position, entry)
    SELECT :array_id, given.place - 1, given.entry
    FROM unnest(CAST(:entries AS text[])) WITH ORDINALITY AS given (entry, place)
""")


def give(
    connection: Connection,
    applications: Applications,
    array_id: ArrayId,
    entries: Sequence[Entry],
    at_s: float,
    cause_id: str,
) -> Array:
    """Write the entries of an array that awaits its list; return the array after it, unchanged if it awaits none.

    NotFound.
    """
    before = locked_of(connection, applications, [array_id]).get(array_id)
    if before is None:
        raise NotFound(f"array {array_id} does not exist")
    if not awaits_list(before):
        return before
    after = settled(changed(listed(before, len(entries)), version=before.version + 1), at_s)
    row = {**changing_columns(applications, after), "indices": str(after.indices)}
    connection.execute(update(arrays).where(arrays.c.id == array_id), row)
    connection.execute(delete(array_states).where(array_states.c.array_id == array_id))
    write_states(connection, array_id, b"", bytes(len(entries)))
    connection.execute(_INSERT, {"array_id": array_id, "entries": [json.dumps(one) for one in entries]})
    record(connection, after, ArrayEventKind.LISTED, at_s, cause_id, {"entries": len(entries)})
    if after.ended_at_s is not None:
        record_end(connection, after, at_s, cause_id)
    return after


def entries_at(connection: Connection, array_id: ArrayId, positions: Collection[int]) -> Mapping[int, Entry]:
    """Return the entries of an array at these positions; unknown ones are missing."""
    wanted = (array_entries.c.array_id == array_id, array_entries.c.position.in_(list(positions)))
    found = connection.execute(select(array_entries.c.position, array_entries.c.entry).where(*wanted))
    return {row.position: json.loads(row.entry) for row in found}


def with_failures(connection: Connection, messages: Mapping[ArrayId, str]) -> Mapping[ArrayId, str]:
    """Return the messages of arrays that run for lists, each with the entries that failed."""
    in_parts = select(array_states).where(array_states.c.array_id.in_(list(messages))).order_by(array_states.c.part)
    states = dict.fromkeys(messages, b"")
    for row in connection.execute(in_parts) if messages else ():
        states[row.array_id] += bytes(row.states)
    failed = {array_id: failed_positions(found) for array_id, found in states.items()}
    named = [(array_id, position) for array_id, found in failed.items() for position in found[:NAMED_MAX]]
    entries: dict[ArrayId, dict[int, Entry]] = {array_id: {} for array_id in messages}
    one_of = tuple_(array_entries.c.array_id, array_entries.c.position).in_(named)
    for row in connection.execute(select(array_entries).where(one_of)) if named else ():
        entries[row.array_id][row.position] = json.loads(row.entry)
    return {one: with_failed_entries(text, failed[one], entries[one]) for one, text in messages.items()}
