"""The active arrays in memory: waiting indices, and the executions of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from zoe_lib.domain.executions.arrays import (
    ACTIVE,
    CODES,
    INDEX_STATES,
    WAITING,
    Array,
    ArrayId,
    can_make_executions,
    can_read_list,
    corr_dependency,
    member_id,
    member_of,
    requests_joint_promise,
)
from zoe_lib.domain.executions.execution import WAITING_STATES, Execution, ExecutionId, ExecutionState
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Dependency
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.errors import NotFound
from zoe_lib.store.values import ArrayQuery
from zoe_master.state.conditional import ConditionalExecutions

WINDOW_MAX, WINDOW_MIN, WINDOW_SUM = 100, 2, 500
"""Maximum executions in the queue, of an array and of all: started ones are replaced at the next tick, and a pass of
the scheduler examines few. Each array has some, so that the order of the queue applies to all.
"""
MADE_MAX = 500
"""Maximum executions made per tick; the next one continues."""
_STARVED_S = 1.0
"""Pause of an array after limits stop further executions."""
# An index whose partners all wait is skipped; after this many of them the next look continues.
_PASSED_MAX = 2000
_PAGE = 500
_FAILED = CODES[INDEX_STATES[3]]


class ActiveArray:
    """An array, the states of its indices, and the executions of active indices."""

    def __init__(self, array: Array, states: bytes) -> None:
        self.array = array
        self.states = bytearray(states)
        self.made: dict[int, ExecutionId] = {}
        self.waiting: set[ExecutionId] = set()
        """Ids of waiting executions."""

    def wanted_count(self, window: int) -> int:
        """Return how many executions may be made now, with this maximum of waiting ones: all of them at once for a
        common promise.
        """
        if requests_joint_promise(self.array):
            return self.states.count(WAITING)
        room = window - len(self.waiting)
        at_once = self.array.at_once
        return room if at_once is None else min(room, at_once - len(self.made))

    def put(self, execution: Execution, position: int) -> None:
        """Record the state of an index's execution."""
        if execution.terminal:
            self.waiting.discard(execution.id)
            # An index that runs again has another execution, and the older one has ended long ago.
            if self.made.get(position) == execution.id:
                del self.made[position]
                self.states[position] = CODES[INDEX_STATES[_STATE_NUMBERS[execution.state]]]
            return
        self.states[position] = ACTIVE
        self.made[position] = execution.id
        if execution.state in WAITING_STATES:
            self.waiting.add(execution.id)
        else:
            self.waiting.discard(execution.id)


_STATE_NUMBERS = {ExecutionState(state.value): number for number, state in enumerate(INDEX_STATES) if number > ACTIVE}


class ActiveArrays:
    """The active arrays. The cost of a tick depends on changes, not on the number of waiting indices."""

    def __init__(self, store: ExecutionStore) -> None:
        self._store = store
        self._kept: dict[ArrayId, ActiveArray] = {}
        self._partners: dict[ArrayId, dict[ArrayId, None]] = {}
        self._changed: dict[ArrayId, None] = {}
        self._stale: dict[ArrayId, None] = {}
        self._starved: dict[ArrayId, None] = {}
        self._starved_until_s = 0.0
        self._deadlines: dict[ArrayId, float] = {}
        self.due_lists: dict[ArrayId, Array] = {}
        """Arrays whose lists may be read now."""
        self.conditional = ConditionalExecutions[Array]()
        """Arrays whose conditions keep all their indices from running."""
        cursor: str | None = None
        while True:
            page = store.arrays(ArrayQuery(open=True, limit=_PAGE, cursor=cursor))
            self._stale.update(dict.fromkeys(array.id for array in page.arrays))
            if (cursor := page.next_cursor) is None:
                break

    def __len__(self) -> int:
        return len(self._kept)

    def mark_changed(self, array_id: ArrayId) -> None:
        """Record that another process has changed an array."""
        self._stale[array_id] = None

    def update_execution(self, execution: Execution) -> None:
        """Record the state of an execution; no effect if it belongs to no known array."""
        member = member_of(execution.id)
        kept = None if member is None else self._kept.get(member.array_id)
        if member is None or kept is None:
            return
        position = kept.array.indices.position(member.index)
        if position is not None:
            kept.put(execution, position)
            self._touch(kept.array.id)
            if not kept.made and WAITING not in kept.states:
                self._stale[kept.array.id] = None  # it has ended, and the next tick notifies its dependents

    def _touch(self, array_id: ArrayId) -> None:
        self._changed[array_id] = None
        self._changed.update(self._partners.get(array_id, {}))

    def read(self, executions: Mapping[ExecutionId, Execution]) -> list[Array]:
        """Read changed arrays again; return the ended ones. `executions`: all active ones."""
        stale, self._stale = list(self._stale), {}
        ended = []
        for array_id in stale:
            self._forget(array_id)
            try:
                array, states = self._store.array_with_states(array_id)
            except NotFound:
                continue
            if array.ended_at_s is not None:
                ended.append(array)
                self._changed.update(self._partners.get(array_id, {}))
                continue
            self._keep(ActiveArray(array, states))
        if stale:
            self._find_made(stale, executions)
        return ended

    def _keep(self, kept: ActiveArray) -> None:
        array = kept.array
        self._kept[array.id] = kept
        for other in array.corr:
            self._partners.setdefault(other, {})[array.id] = None
        if array.conditions != NO_CONDITIONS:
            self.conditional.put(array)
        if array.deadline_s is not None and array.late_count is None:
            self._deadlines[array.id] = array.deadline_s
        self._touch(array.id)

    def _find_made(self, stale: Sequence[ArrayId], executions: Mapping[ExecutionId, Execution]) -> None:
        wanted = set(stale) & self._kept.keys()
        for execution in executions.values() if wanted else ():
            member = member_of(execution.id)
            if member is not None and member.array_id in wanted:
                self.update_execution(execution)

    def _forget(self, array_id: ArrayId) -> None:
        kept = self._kept.pop(array_id, None)
        self.due_lists.pop(array_id, None)
        self.conditional.remove(array_id)
        self._deadlines.pop(array_id, None)
        self._changed.pop(array_id, None)
        for other in kept.array.corr if kept is not None else ():
            others = self._partners.get(other, {})
            others.pop(array_id, None)
            if not others:
                self._partners.pop(other, None)

    def take_late(self, now_s: float, limit: int) -> list[Array]:
        """Return arrays whose deadline has passed while indices wait, a limited number; each once after it was read."""
        due = [text for text, deadline_s in self._deadlines.items() if deadline_s <= now_s][:limit]
        for array_id in due:
            del self._deadlines[array_id]
        return [self._kept[text].array for text in due if WAITING in self._kept[text].states]

    def take_wanted(self, now_s: float) -> list[tuple[ActiveArray, int]]:
        """Return the arrays of which executions may be made now, and how many; the others wait for a change."""
        if self._starved and now_s >= self._starved_until_s:
            self._changed.update(self._starved)
            self._starved = {}
        ready = max(sum(WAITING in array.states for array in self._kept.values()), 1) if self._changed else 1
        window = max(min(WINDOW_MAX, WINDOW_SUM // ready), WINDOW_MIN)
        taken: list[tuple[ActiveArray, int]] = []
        left = MADE_MAX
        for array_id in list(self._changed):
            if left <= 0:
                break
            del self._changed[array_id]
            kept = self._kept.get(array_id)
            if kept is not None and can_read_list(kept.array, now_s):
                self.due_lists[array_id] = kept.array
            if kept is None or not can_make_executions(kept.array, now_s) or (wanted := kept.wanted_count(window)) <= 0:
                continue
            taken.append((kept, min(wanted, left)))
            left -= wanted
        return taken

    def starve(self, array_id: ArrayId, now_s: float) -> None:
        """Examine an array again in a moment, since limits of its tenant or user keep indices from running."""
        self._starved[array_id] = None
        self._starved_until_s = now_s + _STARVED_S

    def touch(self, array_id: ArrayId) -> None:
        """Let the next look examine an array."""
        self._changed[array_id] = None

    def due_s(self, now_s: float) -> float | None:
        """Return the next time at which more executions may be made, in seconds since the epoch; None without one."""
        deadline_s = min(self._deadlines.values(), default=None)
        times = (self._starved_until_s if self._starved else None, self.conditional.next_time_s(now_s), deadline_s)
        return min((at_s for at_s in times if at_s is not None), default=None)

    @property
    def has_unfinished(self) -> bool:
        """Return whether arrays remain to be examined now."""
        return bool(self._changed or self._stale or self.conditional.has_unfinished)

    def next_positions(self, kept: ActiveArray, limit: int) -> Iterator[tuple[int, tuple[Dependency, ...]]]:
        """Yield positions of indices that may run now, with the dependencies of their executions, the lowest index
        first.
        """
        partners = [self._partner(other) for other in kept.array.corr]
        position, found, passed = -1, 0, 0
        while found < limit and passed < _PASSED_MAX:
            position = kept.states.find(WAITING, position + 1)
            if position < 0:
                return
            codes = [states[position] if position < len(states) else _FAILED for _, states in partners]
            if WAITING in codes:
                passed += 1
                continue
            index = kept.array.indices.index_at(position)
            ids = (self._made_id(other, position, index) for other, _ in partners)
            after = (corr_dependency(text, code) for text, code in zip(ids, codes, strict=True))
            found += 1
            yield position, tuple(dependency for dependency in after if dependency is not None)

    def _partner(self, array_id: ArrayId) -> tuple[ArrayId, bytes | bytearray]:
        kept = self._kept.get(array_id)
        if kept is not None:
            return array_id, kept.states
        try:
            return array_id, self._store.array_with_states(array_id)[1]
        except NotFound:  # it was removed with all its records
            return array_id, b""

    def _made_id(self, array_id: ArrayId, position: int, index: int) -> ExecutionId:
        kept = self._kept.get(array_id)
        return (kept.made.get(position) if kept is not None else None) or member_id(array_id, index)
