"""Write the reasons of waiting executions: a limited number per tick, and those left out come first in the next
tick.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from zoe_lib.domain.executions.events import ReasonChanged
from zoe_lib.domain.executions.execution import ExecutionId, ExecutionState
from zoe_lib.domain.values.reasons import Reason
from zoe_lib.store.values import ExecutionChange
from zoe_master.scheduler.ordering.snapshot import Plan
from zoe_master.state.state_cache import CHANGES_PER_SET, StateCache
from zoe_master.state.tick_context import TickContext

REASONS_MAX = 1000
"""Maximum changed reasons that one tick writes; a new policy changes the reasons of the whole queue at once."""
# Maximum of these that may overtake the line: an execution's own reason says more than the common one. Less than a set,
# so that each set takes some from the line.
_OWN_MAX = CHANGES_PER_SET // 2


class ReasonWriter:
    """Journals changed reasons. Executions that were left out stand in line, so each gets its reason, even if later
    plans change it.

    While there is a line, a tick looks only at the head of the line and at executions with their own reasons, however
    long the queue is.
    """

    def __init__(self, cache: StateCache) -> None:
        self._cache = cache
        self._line: OrderedDict[ExecutionId, None] = OrderedDict()

    @property
    def has_unfinished(self) -> bool:
        """Return whether the last plan left some executions out."""
        return bool(self._line)

    def write(self, plan: Plan, tick: TickContext) -> None:
        """Write the reasons that differ from the last ones written, in sets, up to the limit of a tick."""
        changed = self._changed_reasons(plan)
        for _ in range(0, REASONS_MAX, CHANGES_PER_SET):
            some = list(islice(changed, CHANGES_PER_SET))
            self._write(some, tick)
            if len(some) < CHANGES_PER_SET:
                return
            if tick.is_spent():
                break
        if not self._line:
            self._line.update(dict.fromkeys(i for i, _ in self._without_common_reason(plan)))

    def _write(self, changed: Sequence[tuple[ExecutionId, Reason]], tick: TickContext) -> None:
        changes: list[ExecutionChange] = []
        for execution_id, reason in changed:
            execution = self._cache.get(execution_id)
            event = ReasonChanged(at_s=tick.now_s, cause_id=tick.plan_id, reason=reason)
            change = self._cache.change(execution, [event]) if execution is not None else None
            changes += [change] if change is not None else []
        for some in self._cache.in_sets(changes):
            self._cache.append_all(some)

    def _changed_reasons(self, plan: Plan) -> Iterator[tuple[ExecutionId, Reason]]:
        """Yield each execution with its new reason once: first some with their own reasons, then the line, then the
        others.
        """
        own = [(i, reason) for i, reason in plan.reasons.own.items() if self._differs(i, reason)]
        self._line.update(dict.fromkeys(i for i, _ in own[_OWN_MAX:]))
        given = set[ExecutionId]()
        for execution_id, reason in chain(own[:_OWN_MAX], self._of_line(plan), self._without_common_reason(plan)):
            if execution_id not in given:
                given.add(execution_id)
                yield execution_id, reason

    def _of_line(self, plan: Plan) -> Iterator[tuple[ExecutionId, Reason]]:
        """Yield executions from the head of the line, removing them from it."""
        while self._line:
            execution_id, _ = self._line.popitem(last=False)
            reason = plan.reasons.own.get(execution_id, plan.reasons.common)
            if reason is not None and execution_id not in plan.starts and self._differs(execution_id, reason):
                yield execution_id, reason

    def _without_common_reason(self, plan: Plan) -> Iterator[tuple[ExecutionId, Reason]]:
        """Yield the executions without the common reason."""
        common = plan.reasons.common
        if common is None:
            return
        for execution in self._cache.backlog.with_other_reason(common):
            if execution.id not in plan.reasons.own and execution.id not in plan.starts:
                yield execution.id, common

    def _differs(self, execution_id: ExecutionId, reason: Reason) -> bool:
        execution = self._cache.get(execution_id)
        if execution is None or execution.reason is reason or execution.reason == reason:
            return False
        return execution.state is ExecutionState.QUEUED
