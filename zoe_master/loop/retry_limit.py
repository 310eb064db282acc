"""End executions whose next attempt would need more memory than there will ever be."""

from __future__ import annotations

from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Outcome
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_master.scheduler.ordering.snapshot import Plan
from zoe_master.state.state_cache import StateCache
from zoe_master.state.tick_context import TickContext

_MAY_LAST = (ReasonCode.NEVER_FITS, ReasonCode.TENANT_LIMIT, ReasonCode.USER_LIMIT)


class RetryLimit:
    """An execution that ran out of memory is retried with more, if its description says so. It must not wait for a
    node, or a limit, larger than any.
    """

    def __init__(self, cache: StateCache) -> None:
        self._cache = cache

    def end(self, plan: Plan, tick: TickContext) -> None:
        """End the executions that can never start according to the plan."""
        for execution_id, reason in plan.reasons.own.items():
            execution = self._cache.get(execution_id)
            if execution is not None and self._never_starts(execution, reason):
                self._cache.append(execution, [_refused_event(reason, tick)])

    def _never_starts(self, execution: Execution, reason: Reason) -> bool:
        if reason.code not in _MAY_LAST or execution.state is not ExecutionState.QUEUED:
            return False
        if not any(service.cause is Cause.OUT_OF_MEMORY for service in execution.services):
            return False
        if reason.code is ReasonCode.NEVER_FITS:
            return True
        limits, needed = self._cache.policy.limits, execution.application.core_resources()
        both = (limits.for_subject(execution.tenant), limits.for_subject(execution.tenant, execution.user))
        return any(limit.memory_bytes is not None and needed.memory_bytes > limit.memory_bytes for limit in both)


def _refused_event(reason: Reason, tick: TickContext) -> ev.Refused:
    return ev.Refused(
        at_s=tick.now_s,
        cause_id=tick.plan_id,
        outcome=Outcome.FAILED,
        cause=Cause.OUT_OF_MEMORY,
        message=f"the next attempt would need more memory than it can get: {reason.sentence}",
    )
