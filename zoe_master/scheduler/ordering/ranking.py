"""The ranked queue, kept from pass to pass: only new and changed executions move.

With most orders, time adds the same to the keys of all waiting executions, so the sequence does not change: keys of any
one time rank like those of now. With the other orders, time changes the sequence; for them, the queue is kept in the
order `fifo`, and each pass ranks it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.values.resources import Resources
from zoe_lib.run_times.samples import RunKey
from zoe_master.scheduler.ordering.columns import COLUMN_ORDERS, QueueColumns, columns_of, row_of
from zoe_master.scheduler.ordering.estimate import Estimates
from zoe_master.scheduler.ordering.orders import ORDERS, SIZED_ORDERS, STANDING_ORDERS, QueueContext

# Later than every submission, so that every execution has waited.
_ANY_TIME_S = 2.0**32
# An order, the rate at which waiting counts in it, the capacity of the cluster where sizes depend on it, and the order
# of the columns.
RankedBy = tuple[str, float, Resources, str]
_Key = tuple[float | str, ...]
_NO_CAPACITY = Resources()


def ranked_by(policy: Policy, capacity: Resources = _NO_CAPACITY) -> RankedBy:
    """Return the parameters of the kept sequence under a policy."""
    order = policy.order if policy.order in STANDING_ORDERS else "fifo"
    columns = policy.order if policy.order in COLUMN_ORDERS else ""
    return order, policy.ageing_s, capacity if policy.order in SIZED_ORDERS else _NO_CAPACITY, columns


def in_sequence(executions: RankedQueue, policy: Policy, capacity: Resources) -> bool:
    """Return whether these executions are already kept in the sequence of the policy."""
    return policy.order in STANDING_ORDERS and executions.by == ranked_by(policy, capacity)


def in_columns(executions: RankedQueue, policy: Policy, capacity: Resources) -> bool:
    """Return whether these executions have the columns of the policy's order."""
    return policy.order in COLUMN_ORDERS and executions.by == ranked_by(policy, capacity)


class RankedQueue(tuple[Execution, ...]):
    """Waiting executions in the sequence of `by`.

    `apart`: executions that a pause or the object store may keep from starting. `columns`: their rows, for orders that
    are computed by columns.
    """

    by: RankedBy
    columns: QueueColumns
    apart: frozenset[ExecutionId]


def possibly_held(queued: Sequence[Execution]) -> frozenset[ExecutionId]:
    """Return the executions of a queue that a pause or the object store may keep from starting."""
    return queued.apart if isinstance(queued, RankedQueue) else frozenset(e.id for e in queued if _apart(e))


class QueueRanking:
    """The sequence of waiting executions under one policy on a cluster of some capacity.

    `past_runs` may change; then `put` the executions that it affects again.
    """

    def __init__(
        self,
        policy: Policy,
        past_runs: Mapping[RunKey, float],
        executions: Collection[Execution] = (),
        capacity: Resources = _NO_CAPACITY,
    ) -> None:
        self.by = ranked_by(policy, capacity)
        self._order = ORDERS[self.by[0]]
        self._moment = QueueContext(_ANY_TIME_S, policy, Estimates(past_runs), capacity=capacity)
        self._key_of = {execution.id: self._key(execution) for execution in executions}
        self._executions = sorted(executions, key=lambda e: self._key_of[e.id])
        self._keys = [self._key_of[e.id] for e in self._executions]
        self._apart = {e.id for e in self._executions if _apart(e)}
        self._rows = {e.id: row_of(e, self._moment) for e in executions} if self.by[3] else {}
        self._frozen: RankedQueue | None = None

    def put(self, execution: Execution) -> None:
        """Insert an execution that waits now, or has changed."""
        self._frozen = None
        key, known = self._key(execution), self._key_of.get(execution.id)
        if key == known:
            self._executions[bisect_left(self._keys, key)] = execution
        else:
            self.remove(execution.id)
            place = bisect_left(self._keys, key)
            self._keys.insert(place, key)
            self._executions.insert(place, execution)
            self._key_of[execution.id] = key
        if self.by[3]:
            self._rows[execution.id] = row_of(execution, self._moment)
        (self._apart.add if _apart(execution) else self._apart.discard)(execution.id)

    def remove(self, execution_id: ExecutionId) -> None:
        """Remove an execution that no longer waits; no effect for others."""
        key = self._key_of.pop(execution_id, None)
        if key is None:
            return
        self._frozen = None
        place = bisect_left(self._keys, key)
        del self._keys[place]
        del self._executions[place]
        self._apart.discard(execution_id)
        self._rows.pop(execution_id, None)

    def snapshot(self) -> RankedQueue:
        """Return the present sequence."""
        if self._frozen is None:
            self._frozen = RankedQueue(self._executions)
            self._frozen.by, self._frozen.apart = self.by, frozenset(self._apart)
            rows = [self._rows[execution.id] for execution in self._executions] if self.by[3] else ()
            self._frozen.columns = columns_of(self.by[3], rows)
        return self._frozen

    def _key(self, execution: Execution) -> _Key:
        """Return the sort key of the ranking."""
        own = self._order(execution, self._moment)
        return (-execution.priority, *own, execution.submitted_at_s, execution.id)


def _apart(execution: Execution) -> bool:
    return execution.not_before_s > 0 or execution.application.storage is not None
