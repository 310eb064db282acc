"""Entries of arrays' lists, read in parts as their executions are made."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from sqlalchemy import Connection, select, tuple_

from zoe_lib.domain.applications.entries import Entry
from zoe_lib.domain.executions.arrays import ArrayId
from zoe_lib.domain.executions.failed_entries import NAMED_MAX, failed_positions, with_failed_entries
from zoe_lib.store.tables.arrays import array_entries, array_states


def entries_at(connection: Connection, array_id: ArrayId, positions: Collection[int]) -> Mapping[int, Entry]:
    """Return the entries of an array at these positions; unknown ones are missing."""
    wanted = (array_entries.c.array_id == array_id, array_entries.c.position.in_(list(positions)))
    found = connection.execute(select(array_entries.c.position, array_entries.c.entry).where(*wanted))
    return {row.position: json.loads(row.entry) for row in found}


def with_failures(connection: Connection, messages: Mapping[ArrayId, str]) -> Mapping[ArrayId, str]:
    """Return the messages of arrays that run for lists, each with its failed entries."""
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
    return {entry: with_failed_entries(text, failed[entry], entries[entry]) for entry, text in messages.items()}
