"""Let executions into the queue once their conditions are met, and end those whose conditions have become
impossible.
"""

from __future__ import annotations

from collections.abc import Mapping

from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Execution, ExecutionId, ExecutionState
from zoe_lib.domain.lifecycle.consequences import settle
from zoe_lib.store.values import ExecutionChange
from zoe_master.state.state_cache import CHANGES_PER_SET, StateCache
from zoe_master.state.tick_context import TickContext

_SETS_MAX = 4
"""Maximum sets of executions that one tick examines; a chain of dependencies takes a set for each of its links."""


class ConditionObserver:
    """Journals the effects of ended executions, of times, and of releases on conditions."""

    def __init__(self, cache: StateCache) -> None:
        self._cache = cache
        self.unfinished = False
        """Whether the last tick left executions for the next one."""

    def look(self, tick: TickContext) -> None:
        """Examine the executions whose conditions may have changed, a limited number."""
        conditional = self._cache.conditional
        for _ in range(_SETS_MAX):
            self._cache.look_up(conditional.take_unknown(CHANGES_PER_SET))
            examined = conditional.take_changed(tick.now_s, CHANGES_PER_SET)
            if not examined:
                break
            changes = [self._change(execution, ends, tick) for execution, ends in examined]
            self._cache.append_all([change for change in changes if change is not None and change.events])
        self.unfinished = conditional.has_unfinished

    def _change(
        self, execution: Execution, ends: Mapping[ExecutionId, ExecutionState | None], tick: TickContext
    ) -> ExecutionChange | None:
        ended: list[ev.Event] = [
            ev.DependencyEnded(at_s=tick.now_s, cause_id=tick.plan_id, on=on, state=state) for on, state in ends.items()
        ]
        changed = self._cache.execution_after(execution, ended)
        if changed is None:  # a defect, already logged: examining it again would not help
            self._cache.conditional.remove(execution.id)
            return None
        after, consequences = settle(changed, tick.now_s, self._cache.policy, tick.plan_id)
        return ExecutionChange(execution, [*ended, *consequences], after)
