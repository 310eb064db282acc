"""Tells executions why they wait: so many in a tick, and who was left out comes first in the next one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from zoe_lib.domain.events import ReasonChanged
from zoe_lib.domain.execution import ExecutionId, ExecutionState
from zoe_lib.domain.reasons import Reason
from zoe_lib.store.base import ExecutionChange
from zoe_master.scheduler.ordering.snapshot import Plan
from zoe_master.state.state_cache import CHANGES_PER_SET, StateCache
from zoe_master.state.tick_context import TickContext

REASONS_MAX = 1000
"""So many changed reasons a tick writes; a policy changes those of the whole queue at once."""
# Of these, so many may pass those in line: reasons of their own, which tell more than the common one. Less than a set,
# so that each set takes some from the line.
_OWN_MAX = CHANGES_PER_SET // 2


class ReasonWriter:
    """Journals changed reasons. All are reached, whatever the plans say meanwhile: those left out stand in line.

    While there is a line, a tick looks at the first of it and at own reasons only, however long the queue is.
    """

    def __init__(self, cache: StateCache) -> None:
        self._cache = cache
        self._line: OrderedDict[ExecutionId, None] = OrderedDict()

    @property
    def unfinished(self) -> bool:
        """Whether some were left out by the last plan."""
        return bool(self._line)

    def write(self, plan: Plan, tick: TickContext) -> None:
        """Tell those whose reason is another one than they were told, in sets, until the tick has done its share."""
        changed = self._changed(plan)
        for _ in range(0, REASONS_MAX, CHANGES_PER_SET):
            some = list(islice(changed, CHANGES_PER_SET))
            self._write(some, tick)
            if len(some) < CHANGES_PER_SET:
                return
            if tick.spent():
                break
        if not self._line:
            self._line.update(dict.fromkeys(i for i, _ in self._rest(plan)))

    def _write(self, changed: Sequence[tuple[ExecutionId, Reason]], tick: TickContext) -> None:
        changes: list[ExecutionChange] = []
        for execution_id, reason in changed:
            execution = self._cache.get(execution_id)
            event = ReasonChanged(at_s=tick.now_s, cause_id=tick.plan_id, reason=reason)
            change = self._cache.change(execution, [event]) if execution is not None else None
            changes += [change] if change is not None else []
        for some in self._cache.in_sets(changes):
            self._cache.append_all(some)

    def _changed(self, plan: Plan) -> Iterator[tuple[ExecutionId, Reason]]:
        """Who has to be told what, each once: some with reasons of their own, then the line, then the others."""
        own = [(i, reason) for i, reason in plan.reasons.own.items() if self._differs(i, reason)]
        self._line.update(dict.fromkeys(i for i, _ in own[_OWN_MAX:]))
        given = set[ExecutionId]()
        for execution_id, reason in chain(own[:_OWN_MAX], self._of_line(plan), self._rest(plan)):
            if execution_id not in given:
                given.add(execution_id)
                yield execution_id, reason

    def _of_line(self, plan: Plan) -> Iterator[tuple[ExecutionId, Reason]]:
        """Those in line, who leave it."""
        while self._line:
            execution_id, _ = self._line.popitem(last=False)
            reason = plan.reasons.own.get(execution_id, plan.reasons.common)
            if reason is not None and execution_id not in plan.starts and self._differs(execution_id, reason):
                yield execution_id, reason

    def _rest(self, plan: Plan) -> Iterator[tuple[ExecutionId, Reason]]:
        """Those whom the common reason is new to."""
        common = plan.reasons.common
        if common is None:
            return
        for execution in self._cache.backlog.told_otherwise(common):
            if execution.id not in plan.reasons.own and execution.id not in plan.starts:
                yield execution.id, common

    def _differs(self, execution_id: ExecutionId, reason: Reason) -> bool:
        execution = self._cache.get(execution_id)
        if execution is None or execution.reason is reason or execution.reason == reason:
            return False
        return execution.state is ExecutionState.QUEUED
