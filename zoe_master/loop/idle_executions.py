"""Warn the users of idle interactive executions, and end these executions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from zoe_lib.domain.executions.events import Event
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.lifecycle.idleness import idle_due_s, idle_event
from zoe_master.state.state_cache import StateCache
from zoe_master.state.tick_context import TickContext

LastUses = Callable[[Sequence[ExecutionId]], Mapping[ExecutionId, float]]
"""Return when each of these executions was last used; executions that were never used are missing."""


class ExecutionCulling:
    """Warns and ends idle executions; reads last uses only if a warning or an end would follow from the known ones."""

    def __init__(self, cache: StateCache, last_uses: LastUses) -> None:
        self._cache = cache
        self._last_uses = last_uses
        self._used: Mapping[ExecutionId, float] = {}

    def sync(self, tick: TickContext) -> None:
        """Journal the warnings and ends that are due."""
        if not self._cache.policy.idle_after_s:
            return
        due = [execution for execution in self._cache.active() if self._event(execution, tick)]
        if not due:
            return
        self._used = self._last_uses([execution.id for execution in self._cache.active()])
        for execution in due:
            event = self._event(execution, tick)
            if event is not None:
                self._cache.append(execution, [event])

    def due_s(self) -> float | None:
        """Return when the next warning or end is due; None if none is."""
        policy = self._cache.policy
        if not policy.idle_after_s:
            return None
        due = (idle_due_s(execution, self._used.get(execution.id), policy) for execution in self._cache.active())
        return min((at_s for at_s in due if at_s is not None), default=None)

    def _event(self, execution: Execution, tick: TickContext) -> Event | None:
        return idle_event(execution, self._used.get(execution.id), tick.now_s, self._cache.policy, tick.plan_id)
