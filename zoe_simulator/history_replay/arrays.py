"""Arrays in a replay: as they were submitted, at the begin of the replay, and what users did to them later."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from zoe_client.vocabulary import IndexState
from zoe_lib.domain.applications.entries import Entry
from zoe_lib.domain.applications.sharing import ALL
from zoe_lib.domain.executions import arrays as domain
from zoe_lib.domain.executions.arrays import Array, ArrayEventKind, ArrayId, member_of
from zoe_lib.domain.executions.execution import Execution, Mark
from zoe_lib.domain.executions.indices import first_indices, read_indices
from zoe_lib.domain.values.frozen import changed
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.documents.array_entries import AFTER, BEFORE, submitted_conditions, with_fields
from zoe_lib.store.memory.state import State
from zoe_lib.store.memory.store import MemoryStore
from zoe_lib.store.values import ArrayChange, ArrayQuery, ExecutionQuery, JournalEntry

_PAGE = 500
_LISTS_PAGE = 10_000


@dataclass(frozen=True, slots=True)
class _MemberStep:
    """The execution of an index was made, or has ended."""

    at_s: float
    execution: Execution
    ended: bool


@dataclass(frozen=True, slots=True)
class RecordedArrays:
    """Arrays as submitted, with the entries of their lists.

    `ended`: arrays that had ended before the begin, with the states of their indices. `past`: what had happened to the
    others by then, in order.
    """

    fresh: Mapping[ArrayId, Array] = field(default_factory=dict)
    lists: Mapping[ArrayId, Sequence[Entry]] = field(default_factory=dict)
    ended: Sequence[tuple[Array, bytes]] = ()
    past: Sequence[JournalEntry | _MemberStep] = ()

    def put_past(self, state: State) -> None:
        """Put the arrays as they were at the begin into a store's state."""
        for array, states in self.ended:
            state.arrays[array.id], state.array_states[array.id] = array, bytearray(states)
        for step in self.past:
            if isinstance(step, _MemberStep):
                _put_member(state, step)
            elif step.kind == ArrayEventKind.SUBMITTED:
                array = self.fresh[step.execution_id or ""]
                state.arrays[array.id], state.array_states[array.id] = array, bytearray(array.indices.count)
            else:
                happen(MemoryStore(state=state), step, self.lists)
        state.journal.clear()


def read_arrays(
    store: ExecutionStore, from_s: float, to_s: float, is_before: Callable[[JournalEntry], bool]
) -> tuple[RecordedArrays, Sequence[JournalEntry]]:
    """Return the arrays submitted until the end of a replay, and the entries of the journal about them."""
    rows = [array for array in _pages(store) if array.submitted_at_s <= to_s]
    over = [array for array in rows if array.ended_at_s is not None and array.ended_at_s < from_s]
    open_ = [array for array in rows if array.ended_at_s is None or array.ended_at_s >= from_s]
    of_each = {array.id: list(_entries(store, array.id)) for array in open_}
    entries = sorted((entry for some in of_each.values() for entry in some), key=lambda entry: entry.id)
    steps: list[tuple[float, int, JournalEntry | _MemberStep]] = [
        (entry.at_s, 0, entry) for entry in entries if is_before(entry)
    ]
    for array in open_ if from_s > min((a.submitted_at_s for a in open_), default=from_s) else ():
        steps += ((step.at_s, 1 + step.ended, step) for step in _member_steps(store, array, from_s))
    recorded = RecordedArrays(
        fresh={array.id: _as_submitted(array, of_each[array.id]) for array in open_},
        lists={array.id: _list(store, array) for array in open_ if array.entries is not None},
        ended=[(array, store.array_with_states(array.id)[1]) for array in over],
        past=[step for _, _, step in sorted(steps, key=lambda item: item[:2])],
    )
    return recorded, entries


def _member_steps(store: ExecutionStore, array: Array, from_s: float) -> Iterator[_MemberStep]:
    query = ExecutionQuery(array_id=array.id, submitted_to_s=from_s, limit=_PAGE)
    while True:
        page = store.executions(query)
        for execution in page.executions:
            if execution.submitted_at_s < from_s:
                yield _MemberStep(execution.submitted_at_s, execution, ended=False)
            ended_at_s = execution.marks.get(Mark.ENDED, math.inf)
            if ended_at_s < from_s:
                yield _MemberStep(ended_at_s, execution, ended=True)
        if page.next_cursor is None:
            return
        query = replace(query, cursor=page.next_cursor)


def _entries(store: ExecutionStore, array_id: ArrayId) -> Iterator[JournalEntry]:
    newest = 0
    while some := store.journal(newest, _PAGE, ALL, array_id):
        newest = some[-1].id
        yield from some


def happen(store: MemoryStore, entry: JournalEntry, lists: Mapping[ArrayId, Sequence[Entry]]) -> None:
    """Do to an array what an entry of the journal says; its end follows by itself."""
    array_id = entry.execution_id or ""
    if entry.kind == ArrayEventKind.LISTED:
        store.list_array(array_id, lists[array_id], entry.at_s, entry.cause_id)
    elif entry.kind != ArrayEventKind.ENDED:
        store.change_array(array_id, partial(_decide, entry), entry.at_s, entry.cause_id)


def _decide(entry: JournalEntry, array: Array, states: bytearray) -> ArrayChange | None:
    kind, data = ArrayEventKind(entry.kind), entry.data
    after = with_fields(array, data, AFTER)
    if kind is ArrayEventKind.AGAIN:
        again = domain.again(array, states)
        after = changed(after, counts=again.counts, ended_at_s=None)
    elif kind is ArrayEventKind.CANCELLED:
        only = read_indices(str(data["indices"])) if data.get("indices") else None
        after = changed(after, counts=domain.cancel(array, states, "", only).counts)
    elif _fails(kind, array, after):
        after = changed(after, counts=domain.fail(array, states, "").counts)
    return ArrayChange(after, kind, {})


def _fails(kind: ArrayEventKind, array: Array, after: Array) -> bool:
    """Return whether a change let the waiting indices fail: then it has a message."""
    may = kind in (ArrayEventKind.LIST_REFUSED, ArrayEventKind.DEPENDENCY, ArrayEventKind.DEADLINE_MISSED)
    return may and after.message != array.message


def _as_submitted(array: Array, entries: Iterable[JournalEntry]) -> Array:
    conditions = array.conditions
    for entry in reversed(list(entries)):
        if entry.kind == ArrayEventKind.SUBMITTED:
            conditions = submitted_conditions(entry.data)
        elif BEFORE in entry.data:
            array = with_fields(array, entry.data, BEFORE)
    indices, entries_of = array.indices, array.entries
    if entries_of is not None and entries_of.count is not None:
        indices, entries_of = first_indices(1), changed(entries_of, count=None)
    return changed(
        array,
        conditions=conditions,
        indices=indices,
        entries=entries_of,
        version=1,
        run=1,
        ended_at_s=None,
        message="",
        late_count=None,
        counts={IndexState.WAITING: indices.count},
    )


def _put_member(state: State, step: _MemberStep) -> None:
    member = member_of(step.execution.id)
    assert member is not None
    array, states = state.arrays[member.array_id], state.array_states[member.array_id]
    if step.ended:
        state.put_array(domain.index_ended(array, states, step.execution), step.at_s, "")
    elif (position := array.indices.position(member.index)) is not None:
        state.arrays[array.id] = domain.with_executions(array, states, [position])


def _pages(store: ExecutionStore) -> Iterator[Array]:
    cursor: str | None = None
    while True:
        page = store.arrays(ArrayQuery(limit=_PAGE, cursor=cursor))
        yield from page.arrays
        if (cursor := page.next_cursor) is None:
            return


def _list(store: ExecutionStore, array: Array) -> Sequence[Entry]:
    count = 0 if array.entries is None else array.entries.count or 0
    found: dict[int, Entry] = {}
    for first in range(0, count, _LISTS_PAGE):
        found |= store.array_entries(array.id, range(first, min(first + _LISTS_PAGE, count)))
    return [found[place] for place in range(count)]
