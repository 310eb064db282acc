"""Decide when an idle interactive execution gets a warning, and when it is ended."""

from __future__ import annotations

from zoe_lib.domain.applications.application import ApplicationKind
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Mark, Outcome


def idle_event(
    execution: Execution, used_at_s: float | None, now_s: float, policy: Policy, cause_id: str
) -> ev.Event | None:
    """Return the event that follows from its last use (None: never used); None if nothing follows now."""
    due_s = idle_due_s(execution, used_at_s, policy)
    if due_s is None or now_s < due_s:
        return None
    if not _has_valid_warning(execution, used_at_s):
        ends_at_s = now_s + policy.idle_warning_s
        return ev.IdleWarned(
            at_s=now_s, cause_id=cause_id, used_at_s=_since_s(execution, used_at_s), ends_at_s=ends_at_s
        )
    return ev.Stopping(
        at_s=now_s,
        cause_id=cause_id,
        outcome=Outcome.SUCCEEDED,
        cause=Cause.IDLE,
        message=f"unused for {now_s - _since_s(execution, used_at_s):.0f} s",
    )


def idle_due_s(execution: Execution, used_at_s: float | None, policy: Policy) -> float | None:
    """Return the time of the next event unless it is used; None if there will be none."""
    if execution.state is not ExecutionState.RUNNING or execution.application.kind is not ApplicationKind.INTERACTIVE:
        return None
    if not policy.idle_after_s or not (_seen_used(execution) or policy.idle_without_ports):
        return None
    if _has_valid_warning(execution, used_at_s):
        return execution.marks[Mark.IDLE_WARNED] + policy.idle_warning_s
    return _since_s(execution, used_at_s) + policy.idle_after_s


def counts_anew(before: Policy, after: Policy) -> bool:
    """Return whether idle times count from the change of the policy: uses that count now were not recorded before."""
    if not after.idle_after_s:
        return False
    less = after.idle_cores_milli and not 0 < before.idle_cores_milli <= after.idle_cores_milli
    return not before.idle_after_s or bool(less)


def _seen_used(execution: Execution) -> bool:
    """Return whether its use passes through the proxy, and so is visible."""
    return any(port.proxied for component in execution.application.components for port in component.ports)


def _since_s(execution: Execution, used_at_s: float | None) -> float:
    return max(execution.marks[Mark.READY], used_at_s or 0.0)


def _has_valid_warning(execution: Execution, used_at_s: float | None) -> bool:
    """Return whether its warning is still valid: a later use cancels it."""
    return execution.marks.get(Mark.IDLE_WARNED, 0.0) > _since_s(execution, used_at_s)
