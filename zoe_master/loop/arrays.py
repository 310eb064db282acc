"""Make executions of arrays: as many as the queue takes, of the indices that may run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from zoe_client.vocabulary import ExecutionState, Holder
from zoe_lib.domain.executions.arrays import (
    Array,
    ArrayEventKind,
    execution_of,
    fail,
    hold,
    missed_deadline,
    requests_joint_promise,
)
from zoe_lib.domain.lifecycle.consequences import DEADLINE_PASSED
from zoe_lib.domain.values.conditions import OTHERWISE
from zoe_lib.store.values import ArrayChange
from zoe_master.state.arrays import ActiveArray
from zoe_master.state.state_cache import StateCache
from zoe_master.state.tick_context import TickContext

_EXAMINED_MAX = 100
"""Maximum arrays with conditions examined per tick: each needs a transaction."""
_LOOKED_UP_MAX = 500
_NOT_PROMISED = "the requested time passed before it could be promised"


class ArrayObserver:
    """Applies the effects of arrays' conditions, and makes executions of their indices."""

    def __init__(self, cache: StateCache) -> None:
        self._cache = cache

    @property
    def has_unfinished(self) -> bool:
        """Return whether the last look left arrays for the next one."""
        return self._cache.arrays.has_unfinished

    def look(self, tick: TickContext) -> None:
        """Examine the changed arrays, a limited number."""
        arrays = self._cache.arrays
        self._cache.look_up(arrays.conditional.take_unknown(_LOOKED_UP_MAX))
        for array, ends in arrays.conditional.take_changed(tick.now_s, _EXAMINED_MAX):
            self._settle(array, ends, tick)
        for array in arrays.take_late(tick.now_s, _EXAMINED_MAX):
            self._miss(array, tick)
        for kept, wanted in arrays.take_wanted(tick.now_s):
            self._make(kept, wanted, tick)

    def _settle(self, array: Array, ends: Mapping[str, ExecutionState | None], tick: TickContext) -> None:
        late = array.conditions.too_late(tick.now_s)
        if not ends and not late and all(dependency.met is not False for dependency in array.conditions.after):
            self._cache.arrays.touch(array.id)  # its begin has come, or it was released
            return

        def decide(stored: Array, states: bytearray) -> ArrayChange | None:
            conditions = stored.conditions
            for on, state in ends.items():
                conditions = conditions.with_ended(on, state)
            after = replace(stored, conditions=conditions)
            if any(dependency.met is False for dependency in conditions.after):
                after = hold(after, Holder.USER) if conditions.keep else fail(after, states, OTHERWISE)
            if late:
                after = fail(after, states, DEADLINE_PASSED)
            data: dict[str, object] = {"ends": {on: state and state.value for on, state in ends.items()}}
            if late:
                data["too_late"] = True
            return None if after == stored else ArrayChange(after, ArrayEventKind.DEPENDENCY, data)

        self._cache.change_array(array, decide, tick)

    def _miss(self, array: Array, tick: TickContext) -> None:
        """Record once for all indices without an execution that their deadline has passed; indices with a pending
        promise have failed then.
        """

        def decide(stored: Array, states: bytearray) -> ArrayChange | None:
            after = missed_deadline(stored, tick.now_s)
            data = {"deadline_s": stored.deadline_s, "indices": after.late_count}
            if after is not stored and requests_joint_promise(stored):
                after = fail(after, states, _NOT_PROMISED)
            return None if after is stored else ArrayChange(after, ArrayEventKind.DEADLINE_MISSED, data)

        self._cache.change_array(array, decide, tick)

    def _make(self, kept: ActiveArray, wanted: int, tick: TickContext) -> None:
        arrays, array = self._cache.arrays, kept.array
        positions = dict(arrays.next_positions(kept, wanted))
        entries = self._cache.entries_of(array, positions)
        found = [
            (position, execution_of(array, position, tick.now_s, after, entries.get(position)))
            for position, after in positions.items()
        ]
        if not found:
            return
        made = self._cache.make(array, found, tick.plan_id)
        if made is not None and made < len(found):
            arrays.starve(array.id, tick.now_s)
