"""Arrays of the store in memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from zoe_lib.domain.applications.entries import Entry
from zoe_lib.domain.applications.sharing import ExecutionShares
from zoe_lib.domain.executions.arrays import (
    Array,
    ArrayEventKind,
    ArrayId,
    admit_wanted,
    awaits_list,
    fresh,
    member_of,
    with_entries,
    with_executions,
)
from zoe_lib.domain.executions.events import submission_event
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Mark
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.frozen import changed
from zoe_lib.store.documents.array_entries import change_data, submission_data
from zoe_lib.store.documents.cursors import decode_cursor, encode_position
from zoe_lib.store.documents.text import check_array, shown_key
from zoe_lib.store.errors import IdempotencyConflict, NotFound
from zoe_lib.store.memory.installation import MemoryInstallation
from zoe_lib.store.memory.state import Fact
from zoe_lib.store.quotas import check_owner, room_for, with_time_limit
from zoe_lib.store.values import ArrayChange, ArrayPage, ArrayQuery, ArrayRuns


class MemoryArrays(MemoryInstallation):
    """Array methods of a handle on the state."""

    def submit_array(
        self, array: Array, cause_id: str, idempotency_key: str | None = None, fingerprint: str = ""
    ) -> Array:
        """Store a new array, once per key."""
        check_array(array, cause_id, idempotency_key, fingerprint)
        with self._reached() as state:
            if idempotency_key is not None:
                key = (array.tenant, idempotency_key)
                used = state.idempotency_keys.setdefault(key, (fingerprint, array.id, array.submitted_at_s))
                if used[0] != fingerprint:
                    raise IdempotencyConflict(f"the idempotency key {shown_key(idempotency_key)!r} was used before")
                if used[1] != array.id:
                    earlier = state.arrays[used[1]]
                    check_owner(earlier, array.user)
                    return earlier
            application, notes = with_time_limit(array.application, array.tenant, state.policy.limits)
            new = fresh(array, application, notes)
            state.array_states[array.id] = bytearray(array.indices.count)
            fact = Fact(ArrayEventKind.SUBMITTED, array.submitted_at_s, cause_id, submission_data(new))
            state.put_array(new, array.submitted_at_s, cause_id, fact)
        state.notify_subscribers()
        return new

    def array(self, array_id: ArrayId) -> Array:
        """Return one array."""
        return self.array_with_states(array_id)[0]

    def array_with_states(self, array_id: ArrayId) -> tuple[Array, bytes]:
        """Return an array and the states of its indices."""
        with self._reached() as state:
            found = state.arrays.get(array_id)
            if found is None:
                raise NotFound(f"array {array_id} does not exist")
            return found, bytes(state.array_states[array_id])

    def arrays(self, query: ArrayQuery) -> ArrayPage:
        """Return a page of arrays."""
        before = None if query.cursor is None else decode_cursor(query.cursor)
        with self._reached() as state:
            found = [
                array
                for array in state.arrays.values()
                if query.visibility.includes(ExecutionShares(array.tenant, array.user, {}))
                and query.user in (None, array.user)
                and (query.ids is None or array.id in query.ids)
                and not (query.open and array.ended_at_s is not None)
                and (before is None or (array.submitted_at_s, array.id) < before)
            ]
        found.sort(key=lambda entry: (entry.submitted_at_s, entry.id), reverse=True)
        if len(found) <= query.limit:
            return ArrayPage(found, None)
        last = found[query.limit - 1]
        return ArrayPage(found[: query.limit], encode_position((last.submitted_at_s, last.id)))

    def change_array(
        self,
        array_id: ArrayId,
        decide: Callable[[Array, bytearray], ArrayChange | None],
        at_s: float,
        cause_id: str,
        leader_epoch: int | None = None,
    ) -> Array:
        """Change an array."""
        with self._reached() as state:
            self._check_leader(leader_epoch)
            before, states = self.array(array_id), bytearray(self.array_with_states(array_id)[1])
            decided = decide(before, states)
            if decided is None:
                return before
            state.array_states[array_id] = states
            fact = Fact(decided.kind, at_s, cause_id, change_data(before, decided.array, decided.data))
            after = state.put_array(changed(decided.array, version=before.version + 1), at_s, cause_id, fact)
        state.notify_subscribers()
        return after

    def list_array(self, array_id: ArrayId, entries: Sequence[Entry], at_s: float, cause_id: str) -> Array:
        """Write the entries of an array that awaits its list."""
        with self._reached() as state:
            before = self.array(array_id)
            if not awaits_list(before):
                return before
            state.array_entries[array_id] = tuple(entries)
            state.array_states[array_id] = bytearray(len(entries))
            fact = Fact(ArrayEventKind.LISTED, at_s, cause_id, {"entries": len(entries)})
            new = changed(with_entries(before, len(entries)), version=before.version + 1)
            after = state.put_array(new, at_s, cause_id, fact)
        state.notify_subscribers()
        return after

    def active_of_arrays(self, array_ids: Collection[ArrayId]) -> Mapping[ArrayId, Mapping[ExecutionState, int]]:
        """Return the number of unfinished executions of arrays by state."""
        found: defaultdict[ArrayId, Counter[ExecutionState]] = defaultdict(Counter)
        with self._reached() as state:
            for execution in state.active.values():
                member = member_of(execution.id)
                if member is not None and member.array_id in array_ids:
                    found[member.array_id][execution.state] += 1
        return found

    def runs_of_arrays(self, runs: Mapping[ArrayId, int], now_s: float) -> Mapping[ArrayId, ArrayRuns]:
        """Return how long arrays ran, and why indices failed."""
        spans: defaultdict[ArrayId, list[tuple[float, float]]] = defaultdict(list)
        causes: defaultdict[ArrayId, set[Cause]] = defaultdict(set)
        with self._reached() as state:
            for one in state.executions.values():
                member = member_of(one.id)
                if member is None or member.array_id not in runs:
                    continue
                if Mark.PLACED in one.marks:
                    spans[member.array_id].append((one.marks[Mark.PLACED], one.marks.get(Mark.ENDED, now_s)))
                if one.state is ExecutionState.FAILED and one.cause and member.run == runs[member.array_id]:
                    causes[member.array_id].add(one.cause)
        return {id_: ArrayRuns(_covered_s(spans[id_]), frozenset(causes[id_])) for id_ in {*spans, *causes}}

    def array_entries(self, array_id: ArrayId, positions: Collection[int]) -> Mapping[int, Entry]:
        """Return entries of an array."""
        with self._reached() as state:
            known = state.array_entries.get(array_id, ())
            return {position: known[position] for position in positions if 0 <= position < len(known)}

    def _room(self, array: Array) -> int | None:
        """Return how many executions the limits of its owner still admit; None: any number."""
        state, owner = self._state, (array.tenant, array.user)
        return room_for(*owner, state.policy.limits, state.active_of[array.tenant], state.active_of_user[owner])

    def make_of_array(
        self, array: Array, wanted: Sequence[tuple[int, Execution]], cause_id: str, leader_epoch: int
    ) -> Sequence[Execution] | None:
        """Store executions of an array."""
        with self._reached() as state:
            self._check_leader(leader_epoch)
            stored = state.arrays.get(array.id)
            if stored is None or stored.version != array.version:
                return None
            some = admit_wanted(stored, wanted, self._room(array))
            states = state.array_states[array.id]
            positions = [position for position, _ in some]
            if any(states[position] for position in positions):
                return None
            if not some:
                return ()
            state.arrays[array.id] = with_executions(stored, states, positions)
            result = []
            for _, execution in some:
                event = submission_event(execution, cause_id)
                result.append(apply(execution, event))
                state.put(result[-1])
                state.record(result[-1], [event])
        state.notify_subscribers()
        return result


def _covered_s(spans: Sequence[tuple[float, float]]) -> float | None:
    """Return the seconds that are in at least one of these spans of time; None without any."""
    covered_s, to_s = 0.0, float("-inf")
    for begin_s, end_s in sorted(spans):
        covered_s += max(end_s - max(begin_s, to_s), 0.0)
        to_s = max(to_s, end_s)
    return covered_s if spans else None
