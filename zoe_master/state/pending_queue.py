"""Waiting executions, indexed so that the cost of a tick depends on changes, not on the length of the queue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, ExecutionId, ExecutionState
from zoe_lib.domain.values.reasons import Reason
from zoe_lib.domain.values.resources import Resources
from zoe_lib.run_times.samples import RunKey, run_key
from zoe_master.scheduler.ordering.ranking import QueueRanking, RankedQueue, ranked_by

# If the expected run times of more than one in this many queued executions change, the whole queue is ranked again.
_RANKED_ALONE = 20
# Executions that no longer wait are removed together, once there are at least this many.
_GONE_MAX = 1000
_UNKNOWN = Resources()
_Some = dict[ExecutionId, Execution]


class PendingQueue:
    """Executions that are submitted or queued. `past_runs`: expected run times of the kinds among them.

    Only queued executions are ranked and get reasons; each tick takes some of the submitted ones into the queue.
    """

    def __init__(self, executions: Iterable[Execution], policy: Policy, past_runs: Mapping[RunKey, float]) -> None:
        self._past_runs = past_runs
        self._all: _Some = {}
        self._submitted: _Some = {}
        self._paused: _Some = {}
        self._reading: _Some = {}
        self._by_kind: dict[RunKey, _Some] = defaultdict(dict)
        self._by_image: dict[str, _Some] = defaultdict(dict)
        self._common: Reason | None = None
        # a heap; executions that no longer wait are removed when seen
        self._by_age: list[tuple[float, ExecutionId]] = []
        self._others: _Some = {}  # queued executions without the common reason
        self._learned: set[RunKey] = set()
        for execution in executions:
            self._index(execution)
        self._ranking = QueueRanking(policy, past_runs, self._queued_executions())

    def put(self, execution: Execution) -> None:
        """Add a waiting execution, or replace it after a change."""
        self._index(execution)
        if execution.state is ExecutionState.QUEUED:
            self._ranking.put(execution)

    def remove(self, execution: Execution) -> None:
        """Remove an execution that no longer waits; no effect if it is unknown."""
        execution_id, kind = execution.id, run_key(execution)
        if self._all.pop(execution_id, None) is None:
            return
        for some in (self._submitted, self._paused, self._reading, self._others):
            some.pop(execution_id, None)
        self._leave_kind(kind, execution_id)
        for image in execution.application.images:
            self._by_image[image].pop(execution_id, None)
            if not self._by_image[image]:
                del self._by_image[image]
        self._ranking.remove(execution_id)

    def rank_again(self, kind: RunKey) -> None:
        """Record that the expected run time of a kind has changed; the next request ranks its executions again."""
        if kind in self._by_kind:
            self._learned.add(kind)

    def ranked_queue(self, policy: Policy, capacity: Resources = _UNKNOWN) -> RankedQueue:
        """Return all queued executions in the order of the policy, for a cluster of this capacity."""
        learned = [e for kind in self._learned for e in self._by_kind.get(kind, {}).values()]
        self._learned.clear()
        if self._ranking.by != ranked_by(policy, capacity) or len(learned) * _RANKED_ALONE > len(self._all):
            self._ranking = QueueRanking(policy, self._past_runs, self._queued_executions(), capacity)
        else:
            for execution in learned:
                self.put(execution)
        return self._ranking.snapshot()

    def _queued_executions(self) -> Sequence[Execution]:
        return [e for e in self._all.values() if e.state is ExecutionState.QUEUED]

    def __iter__(self) -> Iterator[Execution]:
        return iter(self._all.values())

    @property
    def oldest_at_s(self) -> float | None:
        """Return when the oldest waiting execution was submitted; None if none waits."""
        while self._by_age and self._by_age[0][1] not in self._all:
            heappop(self._by_age)
        return self._by_age[0][0] if self._by_age else None

    @property
    def submitted_executions(self) -> Collection[Execution]:
        """Return executions that the master has not taken into the queue yet, in order of submission."""
        return self._submitted.values()

    @property
    def paused_executions(self) -> Iterable[Execution]:
        """Return executions that must not start before a certain time."""
        return self._paused.values()

    @property
    def reading(self) -> Iterable[Execution]:
        """Return executions with inputs in the object store, in order of submission."""
        return self._reading.values()

    @property
    def images(self) -> Sequence[str]:
        """Return the images of all queued executions, by name."""
        return sorted(self._by_image)

    def wanting(self, image: str) -> Sequence[Execution]:
        """Return the queued executions that need an image."""
        return tuple(self._by_image.get(image, {}).values())

    def with_other_reason(self, common: Reason) -> Sequence[Execution]:
        """Return the executions with another last reason; fast for the same reason as last time."""
        if common is not self._common:
            self._common = common
            self._others = {e.id: e for e in self._queued_executions() if e.reason is not common and e.reason != common}
        return tuple(self._others.values())

    def _leave_kind(self, kind: RunKey, execution_id: ExecutionId) -> None:
        self._by_kind[kind].pop(execution_id, None)
        if not self._by_kind[kind]:
            del self._by_kind[kind]

    def _index(self, execution: Execution) -> None:
        known = self._all.get(execution.id)
        if known is None:
            heappush(self._by_age, (execution.submitted_at_s, execution.id))
        elif run_key(known) != run_key(execution):
            self._leave_kind(run_key(known), execution.id)
        self._all[execution.id] = execution
        if len(self._by_age) > 2 * len(self._all) + _GONE_MAX:
            self._by_age = sorted((e.submitted_at_s, e.id) for e in self._all.values())
        self._by_kind[run_key(execution)][execution.id] = execution
        if execution.state is ExecutionState.QUEUED:
            self._submitted.pop(execution.id, None)
            for image in execution.application.images:
                self._by_image[image][execution.id] = execution
        else:
            self._submitted[execution.id] = execution
        if execution.application.storage is not None and execution.application.storage.inputs:
            self._reading[execution.id] = execution
        if execution.not_before_s > 0:
            self._paused[execution.id] = execution
        submitted = execution.state is not ExecutionState.QUEUED
        if submitted or execution.reason is self._common or execution.reason == self._common:
            self._others.pop(execution.id, None)
        else:
            self._others[execution.id] = execution
