"""The legal transitions, and `apply`, the only way to change an execution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import singledispatch

from zoe_client.vocabulary import Holder
from zoe_lib.domain.applications.application import Application, same_instances, with_counts, with_memory
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.deadline_misses import miss_of_late_index
from zoe_lib.domain.executions.execution import (
    PLATFORM_CAUSES,
    TERMINAL_STATES,
    UNCHARGED_CAUSES,
    Cause,
    Execution,
    ExecutionState,
    Mark,
    Outcome,
    Service,
    ServiceState,
    awaits_prologue,
    new_service,
    new_services,
    pause_of,
    service_id,
)
from zoe_lib.domain.executions.execution import ExecutionState as E
from zoe_lib.domain.executions.execution import ServiceState as S
from zoe_lib.domain.executions.use import granted_by_day
from zoe_lib.domain.values.deadlines import EarlierAttempts
from zoe_lib.domain.values.finish_times import Promise, PromiseAdjustment
from zoe_lib.domain.values.frozen import changed
from zoe_lib.domain.values.owners import FormerUser
from zoe_lib.domain.values.storage import Bandwidth, Guarantee

# event -> the states of the execution in which it is legal
EXECUTION_TRANSITIONS: Mapping[type[ev.Event], frozenset[ExecutionState]] = {
    ev.Submitted: frozenset({E.SUBMITTED}),
    ev.Queued: frozenset({E.SUBMITTED}),
    # While it stops for a requeue, it can be held before its next attempt.
    ev.Held: frozenset({E.SUBMITTED, E.QUEUED, E.STOPPING}),
    ev.Released: frozenset({E.SUBMITTED, E.STOPPING}),
    ev.DependencyEnded: frozenset({E.SUBMITTED}),
    ev.Modified: frozenset({E.SUBMITTED, E.QUEUED}),
    ev.Scaled: frozenset({E.SUBMITTED, E.QUEUED, E.STARTING, E.RUNNING}),
    ev.Promised: frozenset({E.SUBMITTED}),
    ev.PromiseOffered: frozenset({E.SUBMITTED}),
    ev.PromiseAdjusted: frozenset({E.RUNNING}),
    ev.PromiseAtRisk: frozenset(E) - TERMINAL_STATES,
    ev.ReasonChanged: frozenset({E.QUEUED}),
    ev.Forecasted: frozenset({E.QUEUED}),
    ev.StartPlanned: frozenset({E.QUEUED}),
    ev.Refused: frozenset({E.SUBMITTED, E.QUEUED}),
    # A guarantee may arrive when an execution that did not wait for it is already ready.
    ev.StorageGranted: frozenset({E.STARTING, E.RUNNING}),
    ev.StorageRefused: frozenset({E.STARTING}),
    ev.StorageDeclined: frozenset({E.STARTING, E.RUNNING}),
    ev.StorageWithdrawn: frozenset({E.STARTING, E.RUNNING}),
    ev.TenantCredentialUsed: frozenset({E.STARTING, E.RUNNING}),
    ev.AttemptOpened: frozenset({E.STARTING}),
    ev.PrologueEnded: frozenset({E.STARTING, E.STOPPING}),
    ev.EpilogueEnded: frozenset({E.STOPPING}),
    ev.StorageTransferred: frozenset(E),
    ev.InputsDecided: frozenset({E.STARTING}),
    ev.ElasticPlaced: frozenset({E.STARTING, E.RUNNING}),
    ev.ServiceStarting: frozenset({E.STARTING, E.RUNNING}),
    ev.ServiceStarted: frozenset({E.STARTING, E.RUNNING, E.STOPPING}),
    ev.ServiceReady: frozenset({E.STARTING, E.RUNNING, E.STOPPING}),
    ev.ServiceStopping: frozenset({E.STARTING, E.RUNNING, E.STOPPING}),
    ev.ServiceEnded: frozenset({E.STARTING, E.RUNNING, E.STOPPING}),
    ev.ServiceLost: frozenset({E.STARTING, E.RUNNING, E.STOPPING}),
    ev.ServiceRetried: frozenset({E.STARTING, E.RUNNING}),
    ev.Running: frozenset({E.STARTING}),
    ev.DeadlineMissed: frozenset(E) - TERMINAL_STATES,
    ev.ScalingBlind: frozenset({E.RUNNING}),
    ev.IdleWarned: frozenset({E.RUNNING}),
    # A cancellation may still overtake a failure that would be retried.
    ev.Stopping: frozenset({E.STARTING, E.RUNNING, E.STOPPING}),
    ev.Ended: frozenset({E.STOPPING}),
    ev.Requeued: frozenset({E.STOPPING}),
    ev.OwnerChanged: frozenset(E),
}

# event about a service -> the states of that service in which it is legal
SERVICE_TRANSITIONS: Mapping[type[ev.Event], frozenset[ServiceState]] = {
    ev.ServiceStarting: frozenset({S.CREATED}),
    ev.ServiceStarted: frozenset({S.STARTING, S.STOPPING}),
    ev.ServiceReady: frozenset({S.STARTING}),
    ev.ServiceStopping: frozenset({S.STARTING, S.READY}),
    ev.ServiceEnded: frozenset({S.CREATED, S.STARTING, S.READY, S.STOPPING}),
    ev.ServiceLost: frozenset({S.STARTING, S.READY, S.STOPPING}),
    ev.ServiceRetried: frozenset({S.ENDED, S.LOST}),
}


class IllegalTransition(Exception):  # noqa: N818 - the name is the fact
    """An event that is illegal for this execution; carries the execution's story."""

    def __init__(self, execution: Execution, event: ev.Event, why: str) -> None:
        self.execution = execution
        self.event = event
        super().__init__(
            f"{type(event).__name__} is illegal for execution {execution.id}: {why}. {state_summary(execution)}"
        )


def state_summary(execution: Execution) -> str:
    """Return the states of the execution and its services in one line, for errors and logs."""
    services = ", ".join(
        f"{s.name}#{s.attempt} {s.state}" + (f" on {s.node}" if s.node else "") for s in execution.services
    )
    marks = ", ".join(f"{mark}={at_s:.3f}" for mark, at_s in sorted(execution.marks.items(), key=lambda m: m[1]))
    return f"State {execution.state} (version {execution.version}, attempt {execution.attempt}); {marks}; {services}"


def apply(execution: Execution, event: ev.Event) -> Execution:
    """Return the execution after the event, with the next version; IllegalTransition if the tables forbid it."""
    if execution.state not in EXECUTION_TRANSITIONS[type(event)]:
        raise IllegalTransition(execution, event, f"it is {execution.state}")
    if isinstance(event, ev.ServiceEvent):
        _check_service(execution, event)
    return _RULES[type(event)](event, execution, execution.version + 1)


def _check_service(execution: Execution, event: ev.ServiceEvent) -> None:
    try:
        service = execution.service(event.service_id)
    except KeyError:
        raise IllegalTransition(execution, event, f"it has no service {event.service_id}") from None
    if service.state not in SERVICE_TRANSITIONS[type(event)]:
        raise IllegalTransition(execution, event, f"service {service.name} is {service.state}")
    if isinstance(event, ev.ServiceStarting) and service.node is None:
        raise IllegalTransition(execution, event, f"service {service.name} has no node")


@singledispatch
def _change(event: ev.Event, execution: Execution, _version: int) -> Execution:
    raise IllegalTransition(execution, event, "no rule is known for it")


@_change.register
def _apply_submitted(event: ev.Submitted, execution: Execution, version: int) -> Execution:
    return changed(
        execution,
        version=version,
        submitted_at_s=event.at_s,
        missed=miss_of_late_index(execution, event.at_s),
        services=new_services(execution.id, execution.application, execution.attempt),
    )


@_change.register
def _apply_queued(event: ev.Queued, execution: Execution, version: int) -> Execution:
    return changed(execution, version=version, state=E.QUEUED, marks=_with_marks(execution, event, Mark.QUEUED))


@_change.register
def _apply_held(event: ev.Held, execution: Execution, version: int) -> Execution:
    if execution.conditions.held in (Holder.OPERATOR, event.by):
        raise IllegalTransition(execution, event, "it is held already")
    conditions = changed(execution.conditions, held=event.by)
    if execution.state is E.STOPPING:
        if execution.cause is not Cause.REQUEUED:
            raise IllegalTransition(execution, event, "it stops, and is not being requeued")
        return changed(execution, version=version, conditions=conditions)
    return changed(_out_of_queue(execution, event.at_s), version=version, conditions=conditions)


@_change.register
def _apply_released(event: ev.Released, execution: Execution, version: int) -> Execution:
    before = execution.conditions
    if before.held is None:
        raise IllegalTransition(execution, event, "it is not held")
    after = tuple(entry for entry in before.after if entry.met is not False)
    return changed(execution, version=version, conditions=changed(before, held=None, after=after))


@_change.register
def _apply_dependency_ended(event: ev.DependencyEnded, execution: Execution, version: int) -> Execution:
    return changed(execution, version=version, conditions=execution.conditions.with_ended(event.on, event.state))


@_change.register
def _apply_modified(event: ev.Modified, execution: Execution, version: int) -> Execution:
    """Change the request. A begin time in the future takes it out of the queue again. Offers were made for the former
    request.
    """
    after = event.after
    if not same_instances(after.application, execution.application):
        raise IllegalTransition(execution, event, "its components or the numbers of their instances would change")
    leaves = after.begin_at_s is not None and after.begin_at_s > event.at_s
    execution = _out_of_queue(execution, event.at_s) if leaves else execution
    return changed(
        execution,
        version=version,
        priority=after.priority,
        deadline_s=after.deadline_s,
        missed=execution.missed if after.deadline_s == execution.deadline_s else None,
        application=after.application,
        conditions=changed(execution.conditions, begin_at_s=after.begin_at_s),
        forecast=None,
        offers=None,
    )


@_change.register
def _apply_scaled(event: ev.Scaled, execution: Execution, version: int) -> Execution:
    """Create services for new instances; `consequences` stops running services that were scaled down."""
    for name, count in event.total_counts.items():
        try:
            least = execution.application.component(name).essential_count
        except KeyError:
            raise IllegalTransition(execution, event, f"it has no component {name}") from None
        if count < least:
            raise IllegalTransition(execution, event, f"{least} instances of {name} are essential")
    application = with_counts(execution.application, event.total_counts)
    newest = {(s.component, s.index): s for s in execution.services}
    more = []
    for component, index in application.instances():
        before = newest.get((component.name, index))
        if before is None or before.cause is Cause.SCALED_DOWN:
            attempt = execution.attempt if before is None else before.attempt + 1
            more.append(new_service(execution.id, component, index, attempt))
    kept = tuple(_not_begun(s, application, event) for s in execution.services)
    return changed(
        execution, version=version, application=application, services=(*kept, *more), forecast=None, offers=None
    )


def _not_begun(service: Service, application: Application, event: ev.Scaled) -> Service:
    """Return the service, ended if it has no node yet and was scaled down."""
    wanted = service.index < application.component(service.component).total_count
    if wanted or service.state is not S.CREATED or service.node is not None:
        return service
    return changed(service, state=S.ENDED, cause=Cause.SCALED_DOWN, ended_at_s=event.at_s)


def _out_of_queue(execution: Execution, at_s: float) -> Execution:
    """Take it out of the queue: the time outside is not waiting time, which begins anew."""
    marks, earlier = dict(execution.marks), execution.earlier
    queued_at_s = marks.pop(Mark.QUEUED, None)
    if queued_at_s is not None:
        pause_s = pause_of(execution, at_s)
        earlier = changed(
            earlier,
            queued_s=earlier.queued_s + max(at_s - queued_at_s - pause_s, 0.0),
            failed_s=earlier.failed_s + pause_s,
        )
    return changed(execution, state=E.SUBMITTED, reason=None, forecast=None, marks=marks, earlier=earlier)


@_change.register
def _apply_promised(event: ev.Promised, execution: Execution, version: int) -> Execution:
    """Put the promise in force: the deadline is now the promised time."""
    if execution.promise is not None:
        raise IllegalTransition(execution, event, "it has a promise already")
    if event.offer and (execution.offers is None or execution.offers.terms(event.offer, event.at_s) != event.terms):
        raise IllegalTransition(execution, event, f"it has no offer {event.offer} with these terms")
    deadline_s = event.terms.finish_s
    return changed(
        execution,
        version=version,
        promise=Promise(event.terms, event.at_s, event.offer),
        offers=None,
        deadline_s=deadline_s,
        missed=execution.missed if deadline_s == execution.deadline_s else None,
        application=with_bandwidth(execution.application, event.terms.read_bytes_per_s),
        forecast=None,
    )


def with_bandwidth(application: Application, read_bytes_per_s: int | None) -> Application:
    """Return the application with this read bandwidth required."""
    if read_bytes_per_s is None or application.storage is None:
        return application
    before = application.storage.bandwidth or Bandwidth()
    wanted = changed(before, read_bytes_per_s=read_bytes_per_s, guarantee=Guarantee.REQUIRED)
    return changed(application, storage=changed(application.storage, bandwidth=wanted))


@_change.register
def _apply_promise_offered(event: ev.PromiseOffered, execution: Execution, version: int) -> Execution:
    if execution.promise is not None:
        raise IllegalTransition(execution, event, "it has a promise already")
    return changed(execution, version=version, offers=event.offers)


@_change.register
def _apply_promise_adjusted(event: ev.PromiseAdjusted, execution: Execution, version: int) -> Execution:
    """Record new guarantees: never more services than in the terms, and never a lower rate."""
    promise = execution.promise
    if promise is None or not 0 <= event.elastic <= promise.terms.elastic:
        raise IllegalTransition(execution, event, f"its promise does not guarantee {event.elastic}")
    promised, rate = promise.terms.read_bytes_per_s, event.read_bytes_per_s
    if rate is not None and (promised is None or rate < promised):
        raise IllegalTransition(execution, event, f"its promise guarantees {promised} bytes per second")
    adjusted = PromiseAdjustment(event.elastic, execution.attempt, event.at_s, rate)
    return changed(
        execution,
        version=version,
        promise=changed(promise, adjusted=adjusted),
        application=with_bandwidth(execution.application, rate or promised),
    )


@_change.register
def _apply_promise_at_risk(event: ev.PromiseAtRisk, execution: Execution, version: int) -> Execution:
    """Record that the promise is at risk, once."""
    promise = execution.promise
    if promise is None or promise.notice is not None:
        raise IllegalTransition(execution, event, "it has no promise, or this was said already")
    return changed(execution, version=version, promise=changed(promise, notice=event.notice))


@_change.register
def _apply_reason_changed(event: ev.ReasonChanged, execution: Execution, version: int) -> Execution:
    return changed(execution, version=version, reason=event.reason)


@_change.register
def _apply_forecasted(event: ev.Forecasted, execution: Execution, version: int) -> Execution:
    return changed(execution, version=version, forecast=event.forecast)


@_change.register
def _apply_start_planned(event: ev.StartPlanned, execution: Execution, version: int) -> Execution:
    placed = changed(
        execution,
        version=version,
        state=E.STARTING,
        reason=None,
        storage_problem="",
        places=event.places,
        services=_with_placements(execution, event, event.placements),
        marks=_with_marks(execution, event, Mark.ADMITTED, Mark.PLACED),
    )
    missing = [s.name for s in placed.core_services() if s.node is None]
    if missing:
        raise IllegalTransition(execution, event, f"essential services without a node: {', '.join(missing)}")
    return placed


@_change.register
def _apply_storage_granted(event: ev.StorageGranted, execution: Execution, version: int) -> Execution:
    marks = dict(_with_marks(execution, event, Mark.STORAGE_GRANTED))
    marks.pop(Mark.STORAGE_WITHDRAWN, None)
    return changed(execution, version=version, marks=marks, storage_problem="")


@_change.register
def _apply_storage_refused(event: ev.StorageRefused, execution: Execution, version: int) -> Execution:
    return changed(execution, version=version, storage_problem=event.why)


@_change.register
def _apply_storage_declined(event: ev.StorageDeclined, execution: Execution, version: int) -> Execution:
    return changed(execution, version=version, storage_problem=event.why)


@_change.register
def _apply_storage_withdrawn(event: ev.StorageWithdrawn, execution: Execution, version: int) -> Execution:
    """Withdraw the grant: of the marks granted and withdrawn, only the valid one exists."""
    if Mark.STORAGE_GRANTED not in execution.marks:
        raise IllegalTransition(execution, event, "it has no guarantee")
    marks = {**execution.marks, Mark.STORAGE_WITHDRAWN: event.at_s}
    del marks[Mark.STORAGE_GRANTED]
    granted_s = granted_by_day(execution, event.at_s)
    return changed(execution, version=version, marks=marks, granted_s=granted_s, storage_problem=event.why)


@_change.register
def _apply_attempt_opened(event: ev.AttemptOpened, execution: Execution, version: int) -> Execution:
    if Mark.OPENED in execution.marks:
        raise IllegalTransition(execution, event, "this attempt was opened before")
    due = [Mark.OPENED, *([] if event.prologue else [Mark.PROLOGUE_ENDED]), *([Mark.EPILOGUE_DUE] * event.epilogue)]
    return changed(execution, version=version, marks=_with_marks(execution, event, *due))


@_change.register
def _apply_prologue_ended(event: ev.PrologueEnded, execution: Execution, version: int) -> Execution:
    if not awaits_prologue(execution):
        raise IllegalTransition(execution, event, "it awaits no prologue")
    return changed(execution, version=version, marks=_with_marks(execution, event, Mark.PROLOGUE_ENDED))


@_change.register
def _apply_epilogue_ended(event: ev.EpilogueEnded, execution: Execution, version: int) -> Execution:
    if Mark.EPILOGUE_DUE not in execution.marks or awaits_prologue(execution):
        raise IllegalTransition(execution, event, "it awaits no epilogue")
    marks = dict(execution.marks)
    del marks[Mark.EPILOGUE_DUE]
    return changed(execution, version=version, marks=marks)


@_change.register
def _apply_tenant_credential_used(event: ev.TenantCredentialUsed, execution: Execution, version: int) -> Execution:
    if Mark.TENANT_CREDENTIAL in execution.marks:
        raise IllegalTransition(execution, event, "this is recorded already")
    return changed(execution, version=version, marks=_with_marks(execution, event, Mark.TENANT_CREDENTIAL))


@_change.register
def _apply_storage_transferred(event: ev.StorageTransferred, execution: Execution, version: int) -> Execution:
    """Add transfers: each credential counts once; later ones have a higher generation."""
    before = execution.transfers
    if before is not None and event.transfers.generation <= before.generation:
        raise IllegalTransition(execution, event, f"it has the transfers until generation {before.generation}")
    moved = changed(event.transfers, at_s=event.at_s)
    return changed(execution, version=version, transfers=moved.with_earlier(before))


@_change.register
def _apply_inputs_decided(event: ev.InputsDecided, execution: Execution, version: int) -> Execution:
    return changed(execution, version=version, inputs=event.inputs)


@_change.register
def _apply_elastic_placed(event: ev.ElasticPlaced, execution: Execution, version: int) -> Execution:
    return changed(execution, version=version, services=_with_placements(execution, event, event.placements))


@_change.register
def _apply_service_starting(event: ev.ServiceStarting, execution: Execution, version: int) -> Execution:
    return _of_service(execution, version, event, lambda s: changed(s, state=S.STARTING))


@_change.register
def _apply_service_started(event: ev.ServiceStarted, execution: Execution, version: int) -> Execution:
    execution = _of_service(
        execution, version, event, lambda s: changed(s, started_at_s=event.at_s, backend_id=event.backend_id)
    )
    if all(s.started_at_s is not None for s in execution.core_services()):
        return changed(execution, marks=_with_marks(execution, event, Mark.STARTED))
    return execution


@_change.register
def _apply_service_ready(event: ev.ServiceReady, execution: Execution, version: int) -> Execution:
    return _of_service(
        execution, version, event, lambda s: changed(s, state=S.READY, ready_at_s=event.at_s, message="")
    )


@_change.register
def _apply_service_stopping(event: ev.ServiceStopping, execution: Execution, version: int) -> Execution:
    return _of_service(execution, version, event, lambda s: changed(s, state=S.STOPPING, cause=event.cause))


@_change.register
def _apply_service_ended(event: ev.ServiceEnded, execution: Execution, version: int) -> Execution:
    def end(service: Service) -> Service:
        requested = service.state is S.STOPPING and event.cause in (Cause.EXITED, Cause.STOPPED)
        return changed(
            service,
            state=S.ENDED,
            ended_at_s=event.at_s,
            exit_code=event.exit_code,
            cause=service.cause if requested else event.cause,
            message=event.message,
            left_files=event.left_files,
        )

    return _of_service(execution, version, event, end)


@_change.register
def _apply_service_lost(event: ev.ServiceLost, execution: Execution, version: int) -> Execution:
    return _of_service(
        execution,
        version,
        event,
        lambda s: changed(s, state=S.LOST, ended_at_s=event.at_s, cause=Cause.NODE_LOST, message=event.message),
    )


@_change.register
def _apply_service_retried(event: ev.ServiceRetried, execution: Execution, version: int) -> Execution:
    old = execution.service(event.service_id)
    if old.core or old not in execution.current():
        raise IllegalTransition(execution, event, "only the newest attempt of an elastic service gets a successor")
    attempt = old.attempt + 1
    successor = Service(
        id=service_id(execution.id, old.component, old.index, attempt),
        component=old.component,
        index=old.index,
        core=False,
        attempt=attempt,
        not_before_s=event.not_before_s,
    )
    return changed(execution, version=version, services=(*execution.services, successor))


@_change.register
def _apply_running(event: ev.Running, execution: Execution, version: int) -> Execution:
    waiting = [s.name for s in execution.core_services() if s.ready_at_s is None and not s.has_succeeded]
    if waiting:
        raise IllegalTransition(execution, event, f"not ready: {', '.join(waiting)}")
    return changed(execution, version=version, state=E.RUNNING, marks=_with_marks(execution, event, Mark.READY))


@_change.register
def _apply_idle_warned(event: ev.IdleWarned, execution: Execution, version: int) -> Execution:
    """Record a warning: only the newest one counts, since each use cancels the earlier one."""
    return changed(execution, version=version, marks={**execution.marks, Mark.IDLE_WARNED: event.at_s})


@_change.register
def _apply_scaling_blind(_event: ev.ScalingBlind, execution: Execution, version: int) -> Execution:
    return changed(execution, version=version)


@_change.register
def _apply_deadline_missed(event: ev.DeadlineMissed, execution: Execution, version: int) -> Execution:
    """Record a missed deadline: each deadline is missed at most once."""
    if execution.missed is not None or event.miss.deadline_s != execution.deadline_s:
        raise IllegalTransition(execution, event, "this deadline is not its own, or has been missed already")
    return changed(execution, version=version, missed=event.miss)


@_change.register
def _apply_stopping(event: ev.Stopping, execution: Execution, version: int) -> Execution:
    overtakes = event.outcome is Outcome.CANCELLED and execution.outcome is Outcome.FAILED
    # A program may still request another attempt while its time limit ends it, as in Slurm.
    overtakes |= event.cause is Cause.REQUEUED and execution.cause is Cause.TIME_LIMIT
    if execution.state is E.STOPPING and not overtakes:
        raise IllegalTransition(execution, event, f"it is already stopping, and its outcome is {execution.outcome}")
    return changed(
        execution,
        version=version,
        state=E.STOPPING,
        outcome=event.outcome,
        cause=event.cause,
        exit_code=event.exit_code,
        message=event.message,
    )


@_change.register
def _apply_ended(event: ev.Ended, execution: Execution, version: int) -> Execution:
    _check_nothing_left(execution, event)
    assert execution.outcome is not None
    state = E(execution.outcome.value)
    return changed(execution, version=version, state=state, marks=_with_marks(execution, event, Mark.ENDED))


@_change.register
def _apply_requeued(event: ev.Requeued, execution: Execution, version: int) -> Execution:
    _check_nothing_left(execution, event)
    application = with_memory(execution.application, event.memory_bytes)
    if execution.promise is not None:
        application = with_bandwidth(application, execution.promise.terms.read_bytes_per_s)
    attempt = max((s.attempt for s in execution.services), default=0) + 1
    return changed(
        execution,
        version=version,
        state=E.QUEUED if execution.conditions.held is None else E.SUBMITTED,
        attempt=execution.attempt + 1,
        application=application,
        failed_attempts=execution.failed_attempts + (execution.cause not in UNCHARGED_CAUSES and not event.plainly),
        not_before_s=event.not_before_s,
        services=(*execution.services, *new_services(execution.id, execution.application, attempt)),
        marks={**_queued_again(execution, event), **_view_failed(execution, event)},
        granted_s=granted_by_day(execution, event.at_s),
        earlier=_with_attempt(execution, event.at_s),
        outcome=None,
        exit_code=None,
        cause=None,
        forecast=None,
        message="",
        inputs=(),
        places=(),
    )


@_change.register
def _apply_refused(event: ev.Refused, execution: Execution, version: int) -> Execution:
    ended = tuple(
        changed(s, state=S.ENDED, cause=event.cause, ended_at_s=event.at_s) if s.alive else s
        for s in execution.services
    )
    return changed(
        execution,
        version=version,
        state=E(event.outcome.value),
        services=ended,
        marks=_with_marks(execution, event, Mark.ENDED),
        outcome=event.outcome,
        cause=event.cause,
        message=event.message,
        reason=None,
    )


@_change.register
def _apply_owner_changed(event: ev.OwnerChanged, execution: Execution, version: int) -> Execution:
    if event.former != execution.user:
        raise IllegalTransition(execution, event, f"its owner is {execution.user}")
    until_s = _owned_until(execution, event.at_s)
    granted_s = granted_by_day(execution, execution.marks.get(Mark.ENDED, until_s))
    former = FormerUser(event.former, until_s, granted_s)
    return changed(execution, version=version, user=event.user, former_owners=(*execution.former_owners, former))


def _owned_until(execution: Execution, at_s: float) -> float:
    """Return when the owner's use ends: not before the end of an execution that has ended, whatever the clocks say."""
    former_s = [former.until_s for former in execution.former_owners]
    if not execution.terminal:
        return max([at_s, *former_s])
    ends_s = [service.ended_at_s for service in execution.services if service.ended_at_s is not None]
    return max([at_s, *former_s, *ends_s, execution.marks.get(Mark.ENDED, at_s)])


_RULES: Mapping[type[ev.Event], Callable[[ev.Event, Execution, int], Execution]] = dict(_change.registry)
"""A plain dict: lookups in the registry's proxy take longer."""


def _queued_again(execution: Execution, event: ev.Requeued) -> Mapping[Mark, float]:
    return {Mark.QUEUED: event.at_s} if execution.conditions.held is None else {}


def _with_attempt(execution: Execution, at_s: float) -> EarlierAttempts:
    """Return the time of earlier attempts plus the one that has just ended."""
    earlier, placed_at_s = execution.earlier, execution.marks.get(Mark.PLACED, at_s)
    queued_at_s = execution.marks.get(Mark.QUEUED, placed_at_s)
    pause_s = pause_of(execution, placed_at_s)
    queued_s = earlier.queued_s + max(placed_at_s - queued_at_s - pause_s, 0.0)
    earlier = changed(earlier, failed_s=earlier.failed_s + pause_s)
    took_s = max(at_s - placed_at_s, 0.0)
    if execution.cause is Cause.STORAGE_UNAVAILABLE:
        return changed(earlier, queued_s=queued_s, store_s=earlier.store_s + took_s)
    if execution.cause in PLATFORM_CAUSES:
        return changed(earlier, queued_s=queued_s, lost_s=earlier.lost_s + took_s)
    return changed(earlier, queued_s=queued_s, failed_s=earlier.failed_s + took_s)


def _view_failed(execution: Execution, event: ev.Requeued) -> Mapping[Mark, float]:
    """Return the only mark that later attempts keep: they read plainly."""
    if event.plainly:
        return {Mark.VIEW_FAILED: event.at_s}
    return {mark: at_s for mark, at_s in execution.marks.items() if mark is Mark.VIEW_FAILED}


def _check_nothing_left(execution: Execution, event: ev.Event) -> None:
    left = [s.name for s in execution.services if s.alive]
    if left:
        raise IllegalTransition(execution, event, f"not ended: {', '.join(left)}")


def _with_placements(
    execution: Execution, event: ev.Event, placements: tuple[ev.Placement, ...]
) -> tuple[Service, ...]:
    nodes = {p.service_id: p.node for p in placements}
    known = {s.id for s in execution.current() if s.state is S.CREATED and s.node is None}
    strangers = nodes.keys() - known
    if strangers or len(nodes) != len(placements):
        raise IllegalTransition(execution, event, f"cannot be placed: {', '.join(sorted(strangers)) or 'twice'}")
    return tuple(changed(s, node=nodes[s.id]) if s.id in nodes else s for s in execution.services)


def _of_service(
    execution: Execution, version: int, event: ev.ServiceEvent, change: Callable[[Service], Service]
) -> Execution:
    services = tuple([change(s) if s.id == event.service_id else s for s in execution.services])
    return changed(execution, version=version, services=services)


def _with_marks(execution: Execution, event: ev.Event, *marks: Mark) -> Mapping[Mark, float]:
    """Return the marks with these added: the first time counts, and a mark is never moved."""
    return {**execution.marks, **{mark: event.at_s for mark in marks if mark not in execution.marks}}
