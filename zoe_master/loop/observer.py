"""Turn the back-end's reports into events, and stop services that should not run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Service, ServiceId, ServiceState
from zoe_lib.domain.lifecycle.consequences import settle
from zoe_lib.store.values import ExecutionChange
from zoe_master.backends.base import Backend, Observation, ObservedState
from zoe_master.loop.change_tracker import ChangeTracker
from zoe_master.state.crash_points import CrashPoint, Hit
from zoe_master.state.state_cache import StateCache
from zoe_master.state.tick_context import TickContext

INTAKE_MAX = 500
"""Maximum submissions that one tick takes into the queue. It is a count, not a time, so that a replay takes the same
ones.
"""
_GONE = (ObservedState.ENDED, ObservedState.LOST)
_ENDING = (*_GONE, ObservedState.STOPPING)


class ServiceObserver:
    """Compares the journal with the back-end, and journals the back-end's reports."""

    def __init__(self, cache: StateCache, backend: Backend, hit: Hit) -> None:
        self._cache = cache
        self._backend = backend
        self._hit = hit
        self._changes = ChangeTracker()
        self.unfinished = False
        """Whether the last tick left submissions for the next one."""

    def absorb(self, tick: TickContext) -> Mapping[ServiceId, Observation]:
        """Journal new observations with their effects, and clean up; return the observations."""
        observations = {o.service_id: o for o in self._backend.observe()}
        self._hit(CrashPoint.OBSERVED)
        self._changes.look(observations, self._cache.policy)
        # Ended services make room, so all of them come first; a tick takes only some of the new submissions.
        for some in self._cache.in_sets(self._due(self._cache.active(), tick)):
            self._follow(some, observations, tick)
        self.unfinished = len(self._cache.backlog.submitted_executions) > INTAKE_MAX
        # As they are stored: the backlog has promised ones with guaranteed services as essential ones.
        submitted = (execution.id for execution in islice(self._cache.backlog.submitted_executions, INTAKE_MAX))
        arrived = [known for name in submitted if (known := self._cache.get(name)) is not None]
        for some in self._cache.in_sets(self._due(arrived, tick)):
            self._follow(some, observations, tick)
        self._hit(CrashPoint.OBSERVATIONS_KEPT)
        self._clean_up(observations)
        return observations

    def _due(self, executions: Iterable[Execution], tick: TickContext) -> list[Execution]:
        return [execution for execution in executions if self._changes.needs_look(execution, tick.now_s)]

    def _follow(
        self, executions: Sequence[Execution], observations: Mapping[ServiceId, Observation], tick: TickContext
    ) -> None:
        changes = {e.id: self._change(e, observations, tick) for e in executions}
        written = self._cache.append_all([change for change in changes.values() if change and change.events])
        for execution in executions:
            change = changes[execution.id]
            settled = change is not None and not change.events
            stored = execution if settled else written.get(execution.id)
            self._changes.keep(execution, stored)
            if stored is not None and stored.state is not execution.state:
                self._reached_state(stored)

    def _change(
        self, execution: Execution, observations: Mapping[ServiceId, Observation], tick: TickContext
    ) -> ExecutionChange | None:
        """Return the effects of the observations of this execution, possibly empty; None if they are illegal."""
        events: list[ev.Event] = []
        for service in execution.services:
            events += news(service, observations.get(service.id), tick, _has_probe(execution, service))
        changed = self._cache.execution_after(execution, events)
        if changed is None:
            return None
        after, consequences = settle(changed, tick.now_s, self._cache.policy, tick.plan_id)
        return ExecutionChange(execution, [*events, *consequences], after)

    def _reached_state(self, execution: Execution) -> None:
        if execution.state is ExecutionState.QUEUED:
            self._hit(CrashPoint.QUEUED)
        elif execution.state is ExecutionState.STOPPING:
            self._hit(CrashPoint.STOPPING)
        elif execution.terminal:
            self._hit(CrashPoint.ENDED)

    def _clean_up(self, observations: Mapping[ServiceId, Observation]) -> None:
        """Stop running services that are not alive in the journal, and forget ended ones."""
        alive = self._cache.alive_of_active
        strangers = [o for o in observations.values() if o.service_id not in alive.get(o.execution_id, ())]
        if strangers:
            waiting = self._cache.alive_services({o.execution_id for o in strangers})
            strangers = [o for o in strangers if o.service_id not in waiting]
        running = [o.service_id for o in strangers if o.state not in _ENDING]
        gone = [o.service_id for o in strangers if o.state in _GONE]
        if running:
            self._backend.stop(running)
        if gone:
            self._backend.forget(gone)
            self._hit(CrashPoint.FORGOTTEN)


def news(service: Service, seen: Observation | None, tick: TickContext, probed: bool) -> Iterator[ev.Event]:
    """Return the events that bring the journal's service to the observed state.

    A service that ended between two observations still gets `started`, and `ready` if it has no probe. A starting
    service that the back-end does not know gets no events: it is handed over again.
    """
    if seen is None:
        yield from _loss_events(service, tick)
        return
    if not service.alive or service.state is ServiceState.CREATED:
        return
    started_at_s = seen.started_at_s if seen.started_at_s is not None else seen.at_s
    ran = seen.state in (ObservedState.STARTED, ObservedState.READY) or seen.started_at_s is not None
    if ran and service.started_at_s is None:
        yield ev.ServiceStarted(
            at_s=started_at_s, cause_id=tick.plan_id, service_id=service.id, backend_id=seen.backend_id
        )
    ready = seen.state is ObservedState.READY or (ran and not probed)
    if ready and service.state is ServiceState.STARTING:
        ready_at_s = seen.at_s if seen.state is ObservedState.READY else started_at_s
        yield ev.ServiceReady(at_s=ready_at_s, cause_id=tick.plan_id, service_id=service.id)
    yield from _end_events(service, seen, tick.plan_id)


def _end_events(service: Service, seen: Observation, cause_id: str) -> Iterator[ev.Event]:
    if seen.state is ObservedState.LOST:
        yield ev.ServiceLost(
            at_s=seen.at_s, cause_id=cause_id, service_id=service.id, message=seen.message, detail=seen.detail
        )
    elif seen.state is ObservedState.ENDED:
        yield ev.ServiceEnded(
            at_s=seen.at_s,
            cause_id=cause_id,
            service_id=service.id,
            cause=seen.cause or Cause.EXITED,
            exit_code=seen.exit_code,
            message=seen.message,
            detail=seen.detail,
            left_files=seen.left_files,
        )


def _loss_events(service: Service, tick: TickContext) -> Iterator[ev.Event]:
    if service.state is ServiceState.READY:
        yield ev.ServiceLost(
            at_s=tick.now_s,
            cause_id=tick.plan_id,
            service_id=service.id,
            message="the back-end no longer knows it",
        )
    elif service.state is ServiceState.STOPPING:
        yield ev.ServiceEnded(at_s=tick.now_s, cause_id=tick.plan_id, service_id=service.id, cause=Cause.STOPPED)


def _has_probe(execution: Execution, service: Service) -> bool:
    return execution.component_of(service).readiness is not None
