"""Submitted executions that conditions keep out of the queue, indexed by condition."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from heapq import heappop, heappush, nsmallest
from itertools import islice
from typing import Generic, Protocol, TypeVar

from zoe_lib.domain.executions.execution import Execution, ExecutionId, ExecutionState
from zoe_lib.domain.executions.guaranteed import awaits_promise
from zoe_lib.domain.values.conditions import Conditions, Dependency

# Outdated entries of times are removed together, once there are at least this many.
_GONE_MAX = 1000


def is_conditional(execution: Execution) -> bool:
    """Return whether conditions may keep it out of the queue."""
    conditions = execution.conditions
    if execution.state is not ExecutionState.SUBMITTED:
        return False
    return bool(conditions.held or conditions.after or conditions.times_s or awaits_promise(execution))


def may_be_late(execution: Execution) -> bool:
    """Return whether it is in the queue, and has a latest end or a deadline that it has not missed."""
    if execution.state is not ExecutionState.QUEUED:
        return False
    return execution.conditions.end_by_s is not None or (execution.deadline_s is not None and execution.missed is None)


class _Conditional(Protocol):
    """An execution or an array."""

    @property
    def id(self) -> str:
        """Return its id."""
        ...

    @property
    def conditions(self) -> Conditions:
        """Return the conditions that keep it out of the queue."""
        ...

    @property
    def times_s(self) -> tuple[float, ...]:
        """Return the times at which it must be examined."""
        ...


def _in_queue(one: _Conditional) -> bool:
    return isinstance(one, Execution) and one.state is not ExecutionState.SUBMITTED


def _awaited_dependencies(one: _Conditional) -> Iterable[Dependency]:
    """Return the dependencies that it waits for; none in the queue, as one of several may have been enough."""
    return () if _in_queue(one) else one.conditions.undecided_dependencies


T = TypeVar("T", bound=_Conditional)


class ConditionalExecutions(Generic[T]):
    """Executions, or arrays, under conditions, and executions in the queue with a time by which they must or should
    have ended.

    The cost of a tick depends on changes, not on their number.
    """

    def __init__(self) -> None:
        self._all: dict[ExecutionId, T] = {}
        self._dependents: dict[ExecutionId, dict[ExecutionId, None]] = {}
        self._times: list[tuple[float, ExecutionId]] = []  # a heap
        self._changed: dict[ExecutionId, None] = {}
        self._unknown: dict[ExecutionId, None] = {}
        self._ended: dict[ExecutionId, ExecutionState | None] = {}

    def __len__(self) -> int:
        return len(self._all)

    def put(self, execution: T) -> None:
        """Add an execution, or replace it after a change; the next look examines it."""
        self.remove(execution.id)
        self._all[execution.id] = execution
        if not _in_queue(execution):
            self._changed[execution.id] = None
        for dependency in _awaited_dependencies(execution):
            self._dependents.setdefault(dependency.on, {})[execution.id] = None
            if dependency.on not in self._ended:
                self._unknown[dependency.on] = None
        for at_s in execution.times_s:
            heappush(self._times, (at_s, execution.id))
        if len(self._times) > 3 * len(self._all) + _GONE_MAX:
            self._times = sorted(_times_of(self._all.values()))

    def remove(self, execution_id: ExecutionId) -> None:
        """Remove an execution without further conditions; no effect if it is unknown."""
        execution = self._all.pop(execution_id, None)
        if execution is None:
            return
        self._changed.pop(execution_id, None)
        for dependency in _awaited_dependencies(execution):
            others = self._dependents.get(dependency.on)
            if others is not None:
                others.pop(execution_id, None)
                if not others:
                    self._forget(dependency.on)

    def _forget(self, on: ExecutionId) -> None:
        del self._dependents[on]
        self._unknown.pop(on, None)
        self._ended.pop(on, None)

    def note_end(self, execution_id: ExecutionId, state: ExecutionState | None) -> None:
        """Record that an execution has ended, in that state, or is no longer known (None)."""
        if execution_id in self._dependents:
            self._ended[execution_id] = state
            self._unknown.pop(execution_id, None)

    def take_unknown(self, limit: int) -> Collection[ExecutionId]:
        """Return dependencies of unknown state that have not been looked up since."""
        some = list(islice(self._unknown, limit))
        for on in some:
            del self._unknown[on]
        return some

    def take_changed(self, now_s: float, limit: int) -> list[tuple[T, Mapping[ExecutionId, ExecutionState | None]]]:
        """Return executions to examine, each with its ended dependencies.

        They were changed, their time has come, or a dependency has ended.
        """
        while self._times and self._times[0][0] <= now_s and len(self._changed) < limit:
            at_s, execution_id = heappop(self._times)
            if at_s in self._waits_for(execution_id):
                self._changed[execution_id] = None
        for on in self._ended:
            if len(self._changed) >= limit:
                break
            self._changed.update(dict.fromkeys(islice(self._dependents[on], limit - len(self._changed))))
        taken = [self._all[text] for text in islice(self._changed, limit)]
        for execution in taken:
            del self._changed[execution.id]
        return [(t, self._ends_of(t)) for t in taken]

    def _ends_of(self, execution: T) -> Mapping[ExecutionId, ExecutionState | None]:
        return {
            dependency.on: self._ended[dependency.on]
            for dependency in _awaited_dependencies(execution)
            if dependency.on in self._ended
        }

    def _waits_for(self, execution_id: ExecutionId) -> tuple[float, ...]:
        execution = self._all.get(execution_id)
        return () if execution is None else execution.times_s

    @property
    def has_unfinished(self) -> bool:
        """Return whether executions remain to be examined now."""
        return bool(self._changed or self._unknown or self._ended)

    def next_time_s(self, now_s: float) -> float | None:
        """Return the next time for which an execution waits, in seconds since the epoch; None if there is none."""
        while self._times and self._times[0][0] not in self._waits_for(self._times[0][1]):
            heappop(self._times)
        return next((at_s for at_s, _ in nsmallest(1, self._times) if at_s > now_s), None)


def _times_of(executions: Iterable[_Conditional]) -> Iterable[tuple[float, ExecutionId]]:
    for execution in executions:
        for at_s in execution.times_s:
            yield at_s, execution.id
