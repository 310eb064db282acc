"""Write and read arrays. A transaction that changes an array, or one of its indices, locks its row before rows of
executions and the journal, always in this order, and several arrays by id, so that no two transactions deadlock.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from sqlalchemy import Connection, func, insert, literal, select, text, tuple_, update
from sqlalchemy.dialects.postgresql import insert as insert_or

from zoe_client.vocabulary import IndexState
from zoe_lib.domain.applications.entries import EntryList
from zoe_lib.domain.executions.arrays import (
    Array,
    ArrayEventKind,
    ArrayId,
    admit_wanted,
    application_of,
    fresh,
    index_ended,
    member_of,
    with_end_time,
    with_executions,
)
from zoe_lib.domain.executions.execution import Execution, Mark
from zoe_lib.domain.executions.indices import read_indices
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Conditions
from zoe_lib.domain.values.frozen import changed
from zoe_lib.store.documents.array_entries import change_data, submission_data
from zoe_lib.store.documents.codec import decode, encode
from zoe_lib.store.documents.cursors import decode_cursor, encode_position
from zoe_lib.store.documents.documents import Applications
from zoe_lib.store.documents.rows import Row, Values
from zoe_lib.store.documents.text import shown_key, storable
from zoe_lib.store.errors import IdempotencyConflict, NotFound, TooManyArrays
from zoe_lib.store.people import AuditEntry
from zoe_lib.store.quotas import room_for, with_time_limit
from zoe_lib.store.sql.batch import submitting, writing
from zoe_lib.store.sql.billing.limits import of_submission
from zoe_lib.store.sql.journal import journal
from zoe_lib.store.sql.visible import audit
from zoe_lib.store.tables.accounts import tenants
from zoe_lib.store.tables.arrays import NEWEST_FIRST, PART, array_states, arrays
from zoe_lib.store.tables.executions import NOT_TERMINAL, executions, idempotency_keys
from zoe_lib.store.tables.executions import journal as journal_entries
from zoe_lib.store.values import ArrayChange, ArrayPage, ArrayQuery

OPEN_MAX = 1000
"""Maximum unfinished arrays of a tenant: the leader keeps them in memory."""
Decide = Callable[[Array, bytearray], ArrayChange | None]


def submit(
    connection: Connection,
    applications: Applications,
    array: Array,
    cause_id: str,
    key: str | None,
    fingerprint: str,
    entry: AuditEntry | None,
    beside: Callable[[Connection], None] | None = None,
) -> Array:
    """Store a new array, once per key, with the rows of `beside`.

    TooManyArrays, TimeLimitTooLong, IdempotencyConflict.
    """
    if key is not None:
        values = {"tenant": array.tenant, "key": key, "fingerprint": fingerprint}
        row = insert_or(idempotency_keys).values(**values, execution_id=array.id, at_s=array.submitted_at_s)
        if connection.execute(row.on_conflict_do_nothing()).rowcount != 1:
            found = with_key(connection, applications, array.tenant, key, fingerprint)
            assert found is not None
            return found
    connection.execute(select(tenants).where(tenants.c.name == array.tenant).with_for_update(key_share=True))
    still = select(func.count()).where(arrays.c.tenant == array.tenant, arrays.c.ended_at_s.is_(None))
    if connection.execute(still).scalar_one() >= OPEN_MAX:
        raise TooManyArrays(array.tenant, OPEN_MAX)
    limits = of_submission(connection, array)
    application, notes = with_time_limit(array.application, array.tenant, limits)
    stored = fresh(array, application, notes)
    # Check now: the leader makes executions from the stored array, and their documents must be valid, too.
    applications.keep(application_of(stored, stored.indices.highest))
    connection.execute(insert(arrays), [_fixed_values(stored) | changing_columns(applications, stored)])
    write_states(connection, stored.id, b"", bytes(stored.indices.count))
    if entry is not None:
        audit.add(connection, entry)
    if beside is not None:
        beside(connection)
    record(connection, stored, ArrayEventKind.SUBMITTED, stored.submitted_at_s, cause_id, submission_data(stored))
    return stored


def with_key(
    connection: Connection, applications: Applications, tenant: str, key: str, fingerprint: str
) -> Array | None:
    """Return the array that the tenant submitted with that key; IdempotencyConflict."""
    same = (idempotency_keys.c.tenant == tenant, idempotency_keys.c.key == key)
    row = connection.execute(select(idempotency_keys).where(*same)).one_or_none()
    if row is None:
        return None
    if row.fingerprint != fingerprint:
        raise IdempotencyConflict(f"the idempotency key {shown_key(key)!r} was used for a different request")
    return read_array(connection, applications, row.execution_id)


def read_array(connection: Connection, applications: Applications, array_id: ArrayId) -> Array:
    """Return one array; NotFound."""
    row = connection.execute(select(arrays).where(arrays.c.id == array_id)).one_or_none()
    if row is None:
        raise NotFound(f"array {array_id} does not exist")
    return _array(applications, row)


def states(connection: Connection, array_id: ArrayId) -> bytes:
    """Return the states of all indices, a byte for each by position; empty for an unknown array."""
    parts = select(array_states.c.states).where(array_states.c.array_id == array_id).order_by(array_states.c.part)
    return b"".join(bytes(part) for part in connection.execute(parts).scalars())


def page(connection: Connection, applications: Applications, query: ArrayQuery) -> ArrayPage:
    """Return a page of arrays, newest first."""
    seen, statement = query.visibility, select(arrays)
    if seen.tenant is not None:
        statement = statement.where(arrays.c.tenant == seen.tenant)
    for user in filter(None, (seen.user, query.user)):
        statement = statement.where(arrays.c.user_name == user)
    if query.ids is not None:
        statement = statement.where(arrays.c.id.in_([id_ for id_ in query.ids if storable(id_)]))
    if query.open:
        statement = statement.where(arrays.c.ended_at_s.is_(None))
    if query.cursor is not None:
        statement = statement.where(tuple_(*NEWEST_FIRST) < tuple_(*map(literal, decode_cursor(query.cursor))))
    ordered = statement.order_by(*(column.desc() for column in NEWEST_FIRST)).limit(query.limit + 1)
    found = [_array(applications, row) for row in connection.execute(ordered)]
    if len(found) <= query.limit:
        return ArrayPage(found, None)
    last = found[query.limit - 1]
    return ArrayPage(found[: query.limit], encode_position((last.submitted_at_s, last.id)))


def change(
    connection: Connection,
    applications: Applications,
    array_id: ArrayId,
    decide: Decide,
    at_s: float,
    cause_id: str,
    leader_epoch: int | None = None,
) -> Array:
    """Apply the change of `decide` to the array and the states of its indices, and return the array; NotFound."""
    writing.check_leader(connection, leader_epoch)
    before = locked_of(connection, applications, [array_id]).get(array_id)
    if before is None:
        raise NotFound(f"array {array_id} does not exist")
    old = states(connection, array_id)
    new = bytearray(old)
    decided = decide(before, new)
    if decided is None:
        return before
    after = with_end_time(changed(decided.array, version=before.version + 1), at_s)
    connection.execute(update(arrays).where(arrays.c.id == array_id), changing_columns(applications, after))
    write_states(connection, array_id, old, bytes(new))
    record(connection, after, decided.kind, at_s, cause_id, change_data(before, decided.array, decided.data))
    if after.ended_at_s is not None and before.ended_at_s is None:
        record_end(connection, after, at_s, cause_id)
    return after


def make(
    connection: Connection,
    applications: Applications,
    array: Array,
    wanted: Sequence[tuple[int, Execution]],
    cause_id: str,
    leader_epoch: int,
) -> Sequence[Execution] | None:
    """Store executions for waiting indices, with their positions, as many as limits admit.

    None if the array has changed since it was read; then nothing is written.
    """
    writing.check_leader(connection, leader_epoch)
    stored = locked_of(connection, applications, [array.id]).get(array.id)
    if stored is None or stored.version != array.version:
        return None
    some = admit_wanted(stored, wanted, _room(connection, stored))
    if not some:
        return ()
    old = states(connection, array.id)
    new, positions = bytearray(old), [position for position, _ in some]
    if any(old[position] for position in positions):
        return None
    after = with_executions(stored, new, positions)
    connection.execute(update(arrays).where(arrays.c.id == array.id).values(counts=encode(after.counts)))
    write_states(connection, array.id, old, bytes(new))
    new_ones = [submitting.prepare(applications, execution, cause_id, None, "") for _, execution in some]
    submitting.write(connection, new_ones, within=True)
    if not all(submission.written for submission in new_ones):
        raise RuntimeError(f"executions of array {array.id} exist already")  # a defect: nothing is written
    return [submission.execution for submission in new_ones]


def _room(connection: Connection, array: Array) -> int | None:
    limits = of_submission(connection, array)
    if room_for(array.tenant, array.user, limits, 0, 0) is None:
        return None
    connection.execute(select(tenants).where(tenants.c.name == array.tenant).with_for_update(key_share=True))
    counts = select(func.count(), func.count().filter(executions.c.user_name == array.user))
    there = connection.execute(counts.where(executions.c.tenant == array.tenant, text(NOT_TERMINAL))).one()
    return room_for(array.tenant, array.user, limits, *there)


def lock_of(connection: Connection, ids: Iterable[str]) -> None:
    """Lock the arrays of these executions that are about to end, before any other lock."""
    members = {member.array_id for id_ in ids if (member := member_of(id_)) is not None}
    if members:
        locked = select(arrays.c.id).where(arrays.c.id.in_(members)).order_by(arrays.c.id).with_for_update()
        connection.execute(locked).all()


def note_ends(connection: Connection, applications: Applications, ended: Sequence[Execution], cause_id: str) -> None:
    """Record the ends of executions in their arrays, which are locked already."""
    by_array: dict[ArrayId, list[Execution]] = {}
    for execution in ended:
        if (member := member_of(execution.id)) is not None:
            by_array.setdefault(member.array_id, []).append(execution)
    for array_id, some in sorted(by_array.items()):
        _note(connection, applications, array_id, some, cause_id)


def _note(
    connection: Connection, applications: Applications, array_id: ArrayId, ended: Sequence[Execution], cause_id: str
) -> None:
    before = locked_of(connection, applications, [array_id]).get(array_id)
    if before is None:
        return
    old = states(connection, array_id)
    new, after = bytearray(old), before
    for execution in ended:
        after = index_ended(after, new, execution)
    at_s = max(execution.marks[Mark.ENDED] for execution in ended)
    after = with_end_time(after, at_s)
    row = {"counts": encode(after.counts), "ended_at_s": after.ended_at_s}
    connection.execute(update(arrays).where(arrays.c.id == array_id), row)
    write_states(connection, array_id, old, bytes(new))
    if after.ended_at_s is not None and before.ended_at_s is None:
        record_end(connection, after, at_s, cause_id)


def prune(connection: Connection, ended_before_s: float, limit: int) -> int:
    """Remove arrays that ended before, once all their executions are removed; return how many."""
    kept = select(executions.c.id).where(executions.c.array_id == arrays.c.id).exists()
    old = select(arrays.c.id).where(arrays.c.ended_at_s < ended_before_s, ~kept).limit(limit)
    ids = list(connection.execute(old.with_for_update(skip_locked=True)).scalars())
    for column in (journal_entries.c.execution_id, idempotency_keys.c.execution_id, arrays.c.id):
        if ids:
            connection.execute(column.table.delete().where(column.in_(ids)))
    return len(ids)


def locked_of(connection: Connection, applications: Applications, ids: Collection[ArrayId]) -> Mapping[ArrayId, Array]:
    """Lock the rows of arrays in the order of their ids, and return them; unknown ones are missing."""
    rows = connection.execute(select(arrays).where(arrays.c.id.in_(ids)).order_by(arrays.c.id).with_for_update())
    return {row.id: _array(applications, row) for row in rows}


def write_states(connection: Connection, array_id: ArrayId, old: bytes, new: bytes) -> None:
    """Write the changed parts of the states of indices; none is removed."""
    parts = [
        {"array_id": array_id, "part": start // PART, "states": new[start : start + PART]}
        for start in range(0, len(new), PART)
        if old[start : start + PART] != new[start : start + PART]
    ]
    if parts:
        row = insert_or(array_states)
        same = [array_states.c.array_id, array_states.c.part]
        connection.execute(row.on_conflict_do_update(index_elements=same, set_={"states": row.excluded.states}), parts)


def record(
    connection: Connection, array: Array, kind: str, at_s: float, cause_id: str, data: Mapping[str, object]
) -> None:
    """Write an entry of the journal about an array; must be the last step before the commit."""
    journal.write_of_array(connection, array, kind, at_s, cause_id, data)


def record_end(connection: Connection, array: Array, at_s: float, cause_id: str) -> None:
    """Write the entry of the journal about the end of an array; must be the last step before the commit."""
    counts = {state.value: array.count(state) for state in IndexState if array.count(state)}
    record(connection, array, ArrayEventKind.ENDED, at_s, cause_id, {"state": array.state.value, "counts": counts})


def _fixed_values(array: Array) -> Values:
    return {
        "id": array.id,
        "name": array.name,
        "tenant": array.tenant,
        "submitted_at_s": array.submitted_at_s,
        "indices": str(array.indices),
        "corr": list(array.corr),
        "notes": list(array.notes),
    }


def changing_columns(applications: Applications, array: Array) -> Values:
    """Return the columns of an array that may change, except for its indices."""
    name, document = applications.keep(array.application)
    return {
        "user_name": array.user,
        "application_hash": name,
        "application": document,
        "at_once": array.at_once,
        "priority": array.priority,
        "deadline_s": array.deadline_s,
        "conditions": None if array.conditions == NO_CONDITIONS else encode(array.conditions),
        "version": array.version,
        "run": array.run,
        "ended_at_s": array.ended_at_s,
        "message": array.message,
        "late_count": array.late_count,
        "counts": encode(array.counts),
        "entries": None if array.entries is None else encode(array.entries),
    }


def _array(applications: Applications, row: Row) -> Array:
    known = applications.get(row.application_hash)
    return Array(
        id=row.id,
        name=row.name,
        tenant=row.tenant,
        user=row.user_name,
        application=known or applications.load(row.application_hash, row.application),
        submitted_at_s=row.submitted_at_s,
        indices=read_indices(row.indices),
        at_once=row.at_once,
        priority=row.priority,
        deadline_s=row.deadline_s,
        conditions=NO_CONDITIONS if row.conditions is None else decode(Conditions, row.conditions),
        corr=tuple(row.corr),
        notes=tuple(row.notes),
        version=row.version,
        run=row.run,
        ended_at_s=row.ended_at_s,
        message=row.message,
        late_count=row.late_count,
        counts={IndexState(name): number for name, number in row.counts.items()},
        entries=None if row.entries is None else decode(EntryList, row.entries),
    )
