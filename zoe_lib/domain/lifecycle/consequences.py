"""Events that follow from the states of an execution's services: the rules of running, ending and retrying."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from zoe_client.vocabulary import Holder
from zoe_lib.domain.applications.application import ApplicationKind, Component
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.deadline_misses import miss_of
from zoe_lib.domain.executions.execution import (
    PLATFORM_CAUSES,
    WAITING_STATES,
    Cause,
    Execution,
    ExecutionState,
    Mark,
    Outcome,
    Service,
    ServiceState,
    awaits_prologue,
)
from zoe_lib.domain.executions.guaranteed import awaits_promise
from zoe_lib.domain.executions.promises import awaits_grant, awaits_inputs
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.conditions import NOT_NEEDED, OTHERWISE

# A retry would fail in the same way.
_NEVER_RETRIED = frozenset({Cause.TIME_LIMIT, Cause.CANCELLED, Cause.IMAGE_UNAVAILABLE, Cause.NEVER_FITS})
_DOUBLINGS_MAX = 60
DEADLINE_PASSED = "it had not ended at the required time"
_TAKEN_BACK = (Cause.PREEMPTED, Cause.SCALED_DOWN)
_STARTED = (ExecutionState.STARTING, ExecutionState.RUNNING)


def settle(execution: Execution, now_s: float, policy: Policy, cause_id: str) -> tuple[Execution, list[ev.Event]]:
    """Apply consequences until there are none; return the execution after them, and their events."""
    events: list[ev.Event] = []
    while (event := next_event(execution, now_s, policy, cause_id)) is not None:
        execution = apply(execution, event)
        events.append(event)
    return execution, events


def next_event(execution: Execution, now_s: float, policy: Policy, cause_id: str) -> ev.Event | None:
    """Return the next event that follows from the present state, or None."""
    if (missed := missed_deadline(execution, now_s, policy, cause_id)) is not None:
        return missed
    if execution.state in WAITING_STATES and execution.conditions.too_late(now_s):
        return _too_late(now_s, cause_id)
    if execution.state is ExecutionState.SUBMITTED:
        return _past_promise(execution, now_s, cause_id) or _enters_queue(execution, now_s, cause_id)
    if execution.state in _STARTED:
        return (
            _ran_briefly(execution, now_s, cause_id)
            or _verdict(execution, now_s, cause_id)
            or _time_limit(execution, now_s, cause_id)
            or _never_granted(execution, now_s, policy, cause_id)
            or _running(execution, now_s, cause_id)
            or _scaled_down(execution, now_s, cause_id)
            or _elastic_retry(execution, now_s, policy, cause_id)
        )
    if execution.state is ExecutionState.STOPPING:
        return _never_started(execution, now_s, cause_id) or _finish(execution, now_s, policy, cause_id)
    return None


def missed_deadline(execution: Execution, now_s: float, policy: Policy, cause_id: str) -> ev.Event | None:
    """Return the event that its deadline has passed before its end; None if it has not, or if this was recorded
    already.

    An execution that still awaits its promise misses no deadline: it does not begin before its user accepts another
    time.
    """
    deadline_s = execution.deadline_s
    if deadline_s is None or deadline_s > now_s or execution.missed is not None or awaits_promise(execution):
        return None
    if _done_by(deadline_s, execution, now_s, policy):
        return None
    return ev.DeadlineMissed(at_s=now_s, cause_id=cause_id, miss=miss_of(execution, deadline_s))


def _done_by(at_s: float, execution: Execution, now_s: float, policy: Policy) -> bool:
    """Return whether the event that ends it had happened by then, though the master sees it only now. An execution to
    be retried has not ended.
    """
    if execution.terminal:
        return True
    if execution.state is ExecutionState.STOPPING:
        return not will_retry(execution, policy)
    if execution.state not in _STARTED or _verdict(execution, now_s, "") is None:
        return False
    ended_s = _work_ended_s(execution)
    return ended_s is not None and ended_s <= at_s


def _work_ended_s(execution: Execution) -> float | None:
    """Return the end of the services that decide the outcome; None if they have not ended."""
    ending, core = execution.application.ending_component, execution.core_services()
    of_ending = [s for s in core if ending is not None and s.component == ending.name and not s.alive]
    deciding = of_ending or [s for s in core if _has_failed(s)]
    if deciding:
        return min((s.ended_at_s for s in deciding if s.ended_at_s is not None), default=None)
    return max((s.ended_at_s or 0.0 for s in core), default=None) if not any(s.alive for s in core) else None


def _enters_queue(execution: Execution, now_s: float, cause_id: str) -> ev.Event | None:
    """Return the event when its conditions are met: it enters the queue; if they no longer can be met, it ends, or is
    held if requested.
    """
    conditions = execution.conditions
    if awaits_promise(execution) and conditions.dependencies_met:  # whether or not it may begin yet, or is held
        return _expired_offers(execution, now_s, cause_id)
    if conditions.are_met(now_s):
        return None if awaits_promise(execution) else _queued_event(now_s, cause_id)
    if not conditions.impossible:
        return None
    if conditions.keep:
        held = conditions.held is not None
        return None if held else ev.Held(at_s=now_s, cause_id=cause_id, by=Holder.USER)
    return ev.Refused(
        at_s=now_s,
        cause_id=cause_id,
        # It ran only after a failure of one of several, and none failed: it was not needed, and has not failed.
        outcome=Outcome.CANCELLED if conditions.any_of else Outcome.FAILED,
        cause=Cause.DEPENDENCY_FAILED,
        message=NOT_NEEDED if conditions.any_of else OTHERWISE,
    )


def _queued_event(now_s: float, cause_id: str) -> ev.Event:
    return ev.Queued(at_s=now_s, cause_id=cause_id)


def _past_promise(execution: Execution, now_s: float, cause_id: str) -> ev.Event | None:
    """Return the event when the requested time has passed without a promise or offers: none is possible any more."""
    if not awaits_promise(execution) or execution.offers is not None or execution.deadline_s is None:
        return None
    if now_s < execution.deadline_s:
        return None
    why = "the requested time passed before it could be promised"
    return ev.Refused(at_s=now_s, cause_id=cause_id, outcome=Outcome.FAILED, cause=Cause.NO_PROMISE, message=why)


def _expired_offers(execution: Execution, now_s: float, cause_id: str) -> ev.Event | None:
    """Return the event when offers expire: without a promise it runs only if its user accepts one in time."""
    offers = execution.offers
    if offers is None or now_s < offers.ends_s:
        return None
    why = f"{offers.why}; no offer was accepted in time" if offers.offers else offers.why
    return ev.Refused(at_s=now_s, cause_id=cause_id, outcome=Outcome.FAILED, cause=Cause.NO_PROMISE, message=why)


def _too_late(now_s: float, cause_id: str) -> ev.Event:
    """Return the event when it still waits at the time by which it must have ended."""
    return ev.Refused(
        at_s=now_s, cause_id=cause_id, outcome=Outcome.FAILED, cause=Cause.TIME_LIMIT, message=DEADLINE_PASSED
    )


def due_at_s(execution: Execution, policy: Policy) -> float | None:
    """Return the next time at which a change follows from the passing of time alone; None without one."""
    times = [s.not_before_s for s in execution.current() if s.state is ServiceState.CREATED and s.not_before_s > 0]
    if execution.state is ExecutionState.QUEUED:
        times = [execution.not_before_s] if execution.not_before_s > 0 else []
    limit_s, end_by_s = execution.application.time_limit_s, execution.conditions.end_by_s
    if execution.state in _STARTED and limit_s is not None:
        times.append(execution.marks[Mark.PLACED] + limit_s)
    if execution.deadline_s is not None and execution.missed is None and execution.state in _STARTED:
        times.append(execution.deadline_s)
    if end_by_s is not None and execution.state in (ExecutionState.QUEUED, *_STARTED):
        times.append(end_by_s)
    if execution.state is ExecutionState.STARTING and (awaits_grant(execution) or awaits_inputs(execution)):
        times.append(execution.marks[Mark.PLACED] + policy.storage_patience_s)
    return min(times, default=None)


def may_start(execution: Execution, now_s: float) -> Iterator[Service]:
    """Yield placed services that may start: every essential service of a lower start-up order is ready or done.

    None before the required bandwidth is granted, and the way of reading its inputs is decided.
    """
    if execution.state not in _STARTED or awaits_grant(execution) or awaits_inputs(execution):
        return
    waiting_orders = [
        execution.component_of(s).startup_order for s in execution.core_services() if not _ready_or_done(s)
    ]
    turn = min(waiting_orders, default=None)
    for service in execution.current():
        due = service.state is ServiceState.CREATED and service.node is not None and service.not_before_s <= now_s
        if due and (turn is None or execution.component_of(service).startup_order <= turn):
            yield service


def wants_elastic(execution: Execution, now_s: float) -> Iterator[tuple[Component, list[Service]]]:
    """Yield elastic services without a node that may get one now, by component."""
    waiting: dict[str, list[Service]] = {}
    for service in execution.elastic_services():
        if service.state is ServiceState.CREATED and service.node is None and service.not_before_s <= now_s:
            waiting.setdefault(service.component, []).append(service)
    for name, services in waiting.items():
        yield execution.application.component(name), services


def _ready_or_done(service: Service) -> bool:
    return service.state is ServiceState.READY or service.has_succeeded


def _has_failed(service: Service) -> bool:
    return not service.alive and not service.has_succeeded


def _verdict(execution: Execution, now_s: float, cause_id: str) -> ev.Event | None:
    ending = execution.application.ending_component
    core = execution.core_services()
    for service in core:
        if ending is not None and service.component == ending.name and not service.alive:
            return _stopping(service, now_s, cause_id, service.cause or Cause.EXITED)
    for service in core:
        if _has_failed(service) or (ending is not None and not service.alive):
            return _core_failed(service, now_s, cause_id)
    if core and not any(service.alive for service in core):
        return ev.Stopping(at_s=now_s, cause_id=cause_id, outcome=Outcome.SUCCEEDED, cause=Cause.EXITED, exit_code=0)
    return None


def _core_failed(service: Service, now_s: float, cause_id: str) -> ev.Event:
    cause = service.cause if service.cause not in (None, Cause.EXITED) else Cause.CORE_ENDED
    code = "" if service.exit_code is None else f" with exit code {service.exit_code}"
    message = f"essential service {service.name} ended{code}" + (f": {service.message}" if service.message else "")
    return ev.Stopping(
        at_s=now_s,
        cause_id=cause_id,
        outcome=Outcome.FAILED,
        cause=cause or Cause.CORE_ENDED,
        exit_code=service.exit_code,
        message=message,
    )


def _stopping(service: Service, now_s: float, cause_id: str, cause: Cause) -> ev.Event:
    return ev.Stopping(
        at_s=now_s,
        cause_id=cause_id,
        outcome=Outcome.SUCCEEDED if service.has_succeeded else Outcome.FAILED,
        cause=cause,
        exit_code=service.exit_code,
        message=service.message,
    )


def _time_limit(execution: Execution, now_s: float, cause_id: str) -> ev.Event | None:
    if execution.conditions.too_late(now_s):
        return ev.Stopping(
            at_s=now_s, cause_id=cause_id, outcome=Outcome.FAILED, cause=Cause.TIME_LIMIT, message=DEADLINE_PASSED
        )
    limit_s = execution.application.time_limit_s
    if limit_s is None or now_s < execution.marks[Mark.PLACED] + limit_s:
        return None
    interactive = execution.application.kind is ApplicationKind.INTERACTIVE
    return ev.Stopping(
        at_s=now_s,
        cause_id=cause_id,
        outcome=Outcome.SUCCEEDED if interactive else Outcome.FAILED,
        cause=Cause.TIME_LIMIT,
        message=f"the time limit of {limit_s:g} s was reached",
    )


def _never_granted(execution: Execution, now_s: float, policy: Policy, cause_id: str) -> ev.Event | None:
    """Requeue an execution that holds nodes without its required guarantee, so that others can use them."""
    patience_s = policy.storage_patience_s
    if execution.state is not ExecutionState.STARTING or not awaits_grant(execution):
        return None
    if now_s < execution.marks[Mark.PLACED] + patience_s:
        return None
    why = f": {execution.storage_problem}" if execution.storage_problem else ""
    return ev.Stopping(
        at_s=now_s,
        cause_id=cause_id,
        outcome=Outcome.FAILED,
        cause=Cause.STORAGE_UNAVAILABLE,
        message=f"the storage controller did not guarantee the required bandwidth within {patience_s:g} s{why}",
    )


def _ran_briefly(execution: Execution, now_s: float, cause_id: str) -> ev.Event | None:
    """Return that it ran, if it started, ran and ended between two looks: its users wait for that event, too."""
    if execution.state is not ExecutionState.STARTING or _verdict(execution, now_s, cause_id) is None:
        return None
    ran = all(service.ready_at_s is not None or service.has_succeeded for service in execution.core_services())
    return ev.Running(at_s=now_s, cause_id=cause_id) if ran else None


def _running(execution: Execution, now_s: float, cause_id: str) -> ev.Event | None:
    if execution.state is ExecutionState.STARTING and all(map(_ready_or_done, execution.core_services())):
        return ev.Running(at_s=now_s, cause_id=cause_id)
    return None


def _scaled_down(execution: Execution, now_s: float, cause_id: str) -> ev.Event | None:
    """Stop a service that was scaled down."""
    if len(execution.services) == execution.application.instance_count:
        return None
    why = Cause.SCALED_DOWN
    for service in execution.services:
        if execution.requests(service):
            continue
        if service.state is ServiceState.CREATED:
            return ev.ServiceEnded(at_s=now_s, cause_id=cause_id, service_id=service.id, cause=why)
        if service.state in (ServiceState.STARTING, ServiceState.READY):
            return ev.ServiceStopping(at_s=now_s, cause_id=cause_id, service_id=service.id, cause=why)
    return None


def _elastic_retry(execution: Execution, now_s: float, policy: Policy, cause_id: str) -> ev.Event | None:
    for service in execution.elastic_services():
        preempted = not service.alive and service.cause is Cause.PREEMPTED
        if not _has_failed(service) and not preempted:
            continue
        failures = _failures(execution, service)
        if failures >= policy.elastic_failures_max:
            continue
        backoff_s = policy.elastic_backoff_s * 2 ** (failures - 1) if failures else 0.0
        return ev.ServiceRetried(at_s=now_s, cause_id=cause_id, service_id=service.id, not_before_s=now_s + backoff_s)
    return None


def _failures(execution: Execution, service: Service) -> int:
    """Return how often this elastic slot failed in all attempts; being taken back is not a failure."""
    slot = (service.component, service.index)
    return sum(
        1
        for s in execution.services
        if (s.component, s.index) == slot and _has_failed(s) and s.cause not in _TAKEN_BACK
    )


def _never_started(execution: Execution, now_s: float, cause_id: str) -> ev.Event | None:
    for service in execution.services:
        if service.state is ServiceState.CREATED:
            return ev.ServiceEnded(
                at_s=now_s, cause_id=cause_id, service_id=service.id, cause=Cause.STOPPED, message="never started"
            )
    return None


def _finish(execution: Execution, now_s: float, policy: Policy, cause_id: str) -> ev.Event | None:
    if any(service.alive for service in execution.services):
        return None
    if awaits_prologue(execution) or Mark.EPILOGUE_DUE in execution.marks:
        return None
    if will_retry(execution, policy):
        grown = _grown_memory(execution)
        return ev.Requeued(
            at_s=now_s,
            cause_id=cause_id,
            not_before_s=now_s + _pause_s(execution, policy),
            plainly=_may_be_the_views(execution),
            memory_bytes=grown,
            memory_before={name: execution.application.component(name).reservation.memory_bytes for name in grown},
        )
    return ev.Ended(at_s=now_s, cause_id=cause_id)


def _pause_s(execution: Execution, policy: Policy) -> float:
    """Return the seconds before its next attempt."""
    if execution.cause is Cause.REQUEUED:
        return 0.0
    rule, doublings = execution.application.retry, execution.attempt - 1
    first_s, most_s = policy.retry_backoff_s, policy.retry_backoff_max_s
    if execution.cause not in PLATFORM_CAUSES and rule.pause_s is not None:
        first_s, doublings = rule.pause_s, execution.failed_attempts
    if execution.cause not in PLATFORM_CAUSES:
        most_s = _longest_pause_s(execution, policy)
    return float(min(first_s * 2 ** min(doublings, _DOUBLINGS_MAX), most_s))


def _longest_pause_s(execution: Execution, policy: Policy) -> float:
    rule = execution.application.retry
    return rule.pause_max_s or max(policy.retry_backoff_max_s, rule.pause_s or 0.0)


def _grown_memory(execution: Execution) -> Mapping[str, int]:
    """Return the memory that components which ran out of it reserve in the next attempt."""
    factor = execution.application.retry.memory_factor
    if factor is None:
        return {}
    short = {s.component for s in execution.current() if s.cause is Cause.OUT_OF_MEMORY}
    reserved = {name: execution.application.component(name).reservation.memory_bytes for name in sorted(short)}
    return {name: math.ceil(before * factor) for name, before in reserved.items()}


def is_backing_off(execution: Execution, now_s: float, policy: Policy) -> bool:
    """Return whether it is too early for its next attempt.

    A pause longer than the policy's maximum means that the clock was set back: it is over.
    """
    if execution.not_before_s <= now_s:
        return False
    longest_s = max(policy.retry_backoff_max_s, _longest_pause_s(execution, policy))
    return 0 < execution.not_before_s - now_s <= longest_s


def will_retry(execution: Execution, policy: Policy) -> bool:
    """Return whether a stopping execution is queued again once all its services have ended."""
    if execution.outcome is not Outcome.FAILED or execution.cause in _NEVER_RETRIED:
        return False
    if execution.cause in (Cause.STOPPED, Cause.STORAGE_UNAVAILABLE, Cause.REQUEUED):
        # An operator stopped the back-end or the storage controller, or a user requested it: any number of times.
        return True
    if execution.cause in PLATFORM_CAUSES:
        uncharged = execution.attempt - 1 - execution.failed_attempts
        platform_retries = uncharged - (Mark.VIEW_FAILED in execution.marks)
        return platform_retries + 1 < policy.start_attempts_max
    if _may_be_the_views(execution):
        return True
    return execution.failed_attempts < execution.application.retries and _retry_may_help(execution)


def _retry_may_help(execution: Execution) -> bool:
    """Return whether a retry may end differently, by the user's retry rule."""
    rule = execution.application.retry
    if execution.cause is Cause.OUT_OF_MEMORY:
        return rule.memory_factor is not None
    return not rule.exit_codes or execution.exit_code in rule.exit_codes


def _may_be_the_views(execution: Execution) -> bool:
    """Return whether this attempt failed while it read an input through a view; at most once, since retries read
    plainly.
    """
    if execution.cause in PLATFORM_CAUSES or Mark.VIEW_FAILED in execution.marks:
        return False
    ran = any(service.started_at_s is not None for service in execution.current())
    return ran and any(read.view for read in execution.inputs)
