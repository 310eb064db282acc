"""Store of a replay: what users did in the middle of a recorded tick comes before the master's own change."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from zoe_lib.domain.executions.arrays import Array, member_of
from zoe_lib.domain.executions.events import Submitted
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.store.memory.state import State
from zoe_lib.store.memory.store import MemoryStore
from zoe_lib.store.values import ExecutionChange, JournalEntry, StoreLimits

_NO_LIMITS = StoreLimits(retention_s=math.inf, idempotency_keys_kept_s=math.inf)


class ReplayStore(MemoryStore):
    """`happen` does what an entry of another writer says. Limits on the number of executions are not checked: users'
    submissions were accepted, and how many indices of arrays became executions is recorded.
    """

    def __init__(self, state: State, happen: Callable[[JournalEntry], None]) -> None:
        super().__init__(_NO_LIMITS, state)
        self._happen = happen
        self._racing: dict[ExecutionId, list[tuple[int, JournalEntry]]] = {}
        self._written: Counter[ExecutionId] = Counter()
        self._made: frozenset[ExecutionId] | None = None

    def begin_tick(
        self, racing: Sequence[JournalEntry], wrote: Sequence[JournalEntry], made: frozenset[ExecutionId] | None
    ) -> None:
        """Begin a recorded tick. `racing`: users' entries during or after it; `wrote`: its own; `made`: its new
        executions of arrays; None: any.

        An entry came during the tick if the master now writes more of an execution than it wrote before that entry.
        """
        self._written.clear()
        self._racing, self._made = {}, made
        for entry in racing:
            earlier = sum(entry.execution_id in _changed_by(own) and own.id < entry.id for own in wrote)
            self._racing.setdefault(entry.execution_id or "", []).append((earlier, entry))

    def append_all(
        self, changes: Sequence[ExecutionChange], leader_epoch: int | None
    ) -> Mapping[ExecutionId, Execution]:
        """Write changes of different executions."""
        for change in changes if leader_epoch is not None else ():
            self._race(change.before.id)
        written = super().append_all(changes, leader_epoch)
        for change in changes:
            self._written[change.before.id] += len(change.events) if change.before.id in written else 0
        return written

    def make_of_array(
        self, array: Array, wanted: Sequence[tuple[int, Execution]], cause_id: str, leader_epoch: int
    ) -> Sequence[Execution] | None:
        """Store executions of an array."""
        self._race(array.id)
        made = self._made
        some = wanted if made is None else [item for item in wanted if item[1].id in made]
        done = super().make_of_array(array, some, cause_id, leader_epoch)
        self._written[array.id] += len(done or ())
        return done

    def _race(self, name: ExecutionId) -> None:
        some = self._racing.get(name, [])
        while some and self._written[name] >= some[0][0]:
            self._happen(some.pop(0)[1])

    def _admit(self, execution: Execution) -> Execution:
        return execution

    def _room(self, array: Array) -> int | None:  # noqa: ARG002
        return None


def _changed_by(entry: JournalEntry) -> tuple[str | None, ...]:
    """Return the ids that an entry of a tick changed: a new execution of an array changes both."""
    member = member_of(entry.execution_id or "") if entry.kind == Submitted.kind else None
    return (entry.execution_id,) if member is None else (entry.execution_id, member.array_id)
