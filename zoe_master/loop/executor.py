"""Carry out a plan: journal first, then idempotent calls, so that every step can be repeated after a crash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import structlog

from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import (
    Cause,
    Execution,
    ExecutionId,
    ExecutionState,
    Mark,
    Service,
    ServiceId,
    ServiceState,
)
from zoe_lib.domain.executions.gateway import bearer
from zoe_lib.domain.executions.promises import is_promised
from zoe_lib.domain.lifecycle.consequences import may_start
from zoe_lib.domain.values.locality import InputPlaces, places_of
from zoe_lib.store.values import ExecutionChange
from zoe_master.backends.base import (
    Backend,
    BackendError,
    Observation,
    ObservedState,
    PeerService,
    ServiceStart,
    ServiceStorage,
)
from zoe_master.loop.attempt_programs import AttemptPrograms
from zoe_master.loop.port_secrets import PortSecrets
from zoe_master.loop.secret_values import ExecutionSecrets
from zoe_master.loop.system_users import SystemUsers
from zoe_master.scheduler.ordering.snapshot import Plan
from zoe_master.state.crash_points import CrashPoint, Hit
from zoe_master.state.state_cache import StateCache
from zoe_master.state.tick_context import TickContext
from zoe_master.storage.input_places import Told
from zoe_master.storage.spark_config import SparkConfig

log = structlog.get_logger(__name__)

_ENDING = (ObservedState.STOPPING, ObservedState.ENDED, ObservedState.LOST)


class PlanExecutor:
    """Turns decisions into events, and hands services to the back-end."""

    def __init__(
        self,
        cache: StateCache,
        backend: Backend,
        spark_config: SparkConfig,
        port_secrets: PortSecrets,
        system_users: SystemUsers,
        secret_values: ExecutionSecrets,
        hit: Hit,
        programs: AttemptPrograms,
    ) -> None:
        self._cache = cache
        self._backend = backend
        self._connectors = spark_config
        self._sign_ins = port_secrets
        self._system_users = system_users
        self._secrets = secret_values
        self._hit = hit
        self._programs = programs

    def carry_out(self, plan: Plan, tick: TickContext, locality: Told) -> None:
        """Journal the plan: starts with the places of their inputs, elastic placements, and services to take back."""
        self._hit(CrashPoint.PLANNED)
        self._place({i: self._start(i, placements, locality, tick) for i, placements in plan.starts.items()}, tick)
        self._place({i: _grow(placements, tick) for i, placements in plan.elastic.items()}, tick)
        self._preempt(plan, tick)

    def _start(
        self, execution_id: ExecutionId, placements: tuple[ev.Placement, ...], locality: Told, tick: TickContext
    ) -> ev.StartPlanned:
        places = self._places(execution_id, locality) if locality else ()
        return ev.StartPlanned(at_s=tick.now_s, cause_id=tick.plan_id, placements=placements, places=places)

    def _places(self, execution_id: str, locality: Told) -> tuple[InputPlaces, ...]:
        execution = self._cache.get(execution_id)
        if execution is None or execution.application.storage is None:
            return ()
        return places_of(execution.application.storage.inputs, execution.tenant, locality)

    def drive(self, observations: Mapping[ServiceId, Observation], tick: TickContext) -> None:
        """Start the services whose turn has come, finish interrupted starts, and stop services as required."""
        for some in self._cache.in_sets(self._cache.moving()):
            self._drive(some, observations, tick)
        self._repeat_stops(observations)

    def _drive(
        self, executions: Sequence[Execution], observations: Mapping[ServiceId, Observation], tick: TickContext
    ) -> None:
        due = {
            e.id: _stop_events(e, tick) if e.state is ExecutionState.STOPPING else _starting(e, tick)
            for e in executions
        }
        changes = [self._cache.change(e, due[e.id]) for e in executions if due[e.id]]
        written = self._cache.append_all([change for change in changes if change is not None])
        for execution in executions:
            changed = written.get(execution.id)
            if execution.state is ExecutionState.STOPPING:
                if changed is not None:
                    self._hit(CrashPoint.SERVICE_STOPPING)
            elif changed is not None or not due[execution.id]:
                if changed is not None:
                    self._hit(CrashPoint.SERVICE_STARTING)
                self._start_services(changed or execution, observations, tick)

    def _place(self, planned: Mapping[ExecutionId, ev.StartPlanned | ev.ElasticPlaced], tick: TickContext) -> None:
        """Journal each placement together with the services that it lets start; all of them are handed over later."""
        for some in self._cache.in_sets(list(planned.items())):
            placing = [self._placing(execution_id, event, tick) for execution_id, event in some]
            changes = [change for change in placing if change is not None]
            written = self._cache.append_all(changes)
            for change in changes:
                if change.before.id in written:
                    self._hit(CrashPoint.START_PLANNED)
                    if len(change.events) > 1:
                        self._hit(CrashPoint.SERVICE_STARTING)

    def _placing(
        self, execution_id: ExecutionId, planned: ev.StartPlanned | ev.ElasticPlaced, tick: TickContext
    ) -> ExecutionChange | None:
        execution = self._cache.get(execution_id)
        placed = self._cache.execution_after(execution, [planned]) if execution is not None else None
        if execution is None or placed is None:
            return None
        starting = _starting(placed, tick)
        after = self._cache.execution_after(placed, starting)
        return ExecutionChange(execution, [planned, *starting], after) if after is not None else None

    def _preempt(self, plan: Plan, tick: TickContext) -> None:
        """Take elastic services back: ask a running one to stop, and end one that was only placed."""
        for some in self._cache.in_sets(list(plan.preempt.items())):
            executions = [(self._cache.get(execution_id), services) for execution_id, services in some]
            changes = [
                self._cache.change(execution, [_taken_back(execution, service_id, tick) for service_id in services])
                for execution, services in executions
                if execution is not None
            ]
            self._cache.append_all([change for change in changes if change is not None])

    def _start_services(
        self, execution: Execution, observations: Mapping[ServiceId, Observation], tick: TickContext
    ) -> None:
        to_start = [s for s in execution.services if s.state is ServiceState.STARTING and s.id not in observations]
        own, patience_s = self._connectors.own, self._cache.policy.storage_patience_s
        if not to_start or own.is_awaited(execution, tick.now_s, patience_s):
            return
        opened = self._programs.opened(execution, observations, tick)
        if opened is None:
            return
        execution = opened
        if own.gave_up(execution) and Mark.TENANT_CREDENTIAL not in execution.marks:
            said = ev.TenantCredentialUsed(at_s=tick.now_s, cause_id=tick.plan_id)
            if self._cache.append(execution, [said]) is None:
                return
        access, needs_secret = (
            self._connectors.access(execution),
            any(c.has_secret for c in execution.application.components),
        )
        secret = self._sign_ins.secret(execution) if needs_secret else ""
        system_user = self._system_users.user_for(execution.tenant, execution.user)
        components = execution.application.components
        given = {
            component.name: self._secrets.secrets_for(execution, component.secret_names) for component in components
        }
        for service in to_start:
            start = start_of(execution, service, tick.plan_id, access, secret)
            api = self._secrets.api(execution, start.component)
            volumes = self._secrets.volumes_for(execution, service, tick.now_s)
            secrets = given[service.component]
            self._hand_over(replace(start, system_user=system_user, secrets=secrets, api=api, volumes=volumes))
        self._hit(CrashPoint.SERVICE_HANDED_OVER)

    def _hand_over(self, start: ServiceStart) -> None:
        """Hand over the services; if the back-end does not accept one now, the next tick repeats it."""
        try:
            self._backend.start(start)
        except BackendError as error:
            log.warning("not handed to the back-end", service=start.service_id, why=str(error))

    def _repeat_stops(self, observations: Mapping[ServiceId, Observation]) -> None:
        """Request every stop until the back-end reports it, so that a crash between journal and call leaves nothing
        running.
        """
        wanted = [
            s.id
            for e in self._cache.moving()
            for s in e.services
            if s.state is ServiceState.STOPPING
            and (s.id not in observations or observations[s.id].state not in _ENDING)
        ]
        if wanted:
            self._backend.stop(wanted)
            self._hit(CrashPoint.STOP_HANDED_OVER)


def _grow(placements: tuple[ev.Placement, ...], tick: TickContext) -> ev.ElasticPlaced:
    return ev.ElasticPlaced(at_s=tick.now_s, cause_id=tick.plan_id, placements=placements)


def _taken_back(execution: Execution, service_id: ServiceId, tick: TickContext) -> ev.Event:
    at_s, why = tick.now_s, Cause.PREEMPTED
    if execution.service(service_id).state is ServiceState.CREATED:
        return ev.ServiceEnded(at_s=at_s, cause_id=tick.plan_id, service_id=service_id, cause=why)
    return ev.ServiceStopping(at_s=at_s, cause_id=tick.plan_id, service_id=service_id, cause=why)


def _stop_events(execution: Execution, tick: TickContext) -> list[ev.Event]:
    running = (s for s in execution.services if s.state in (ServiceState.STARTING, ServiceState.READY))
    why = Cause.CANCELLED if execution.cause is Cause.CANCELLED else Cause.STOPPED
    return [ev.ServiceStopping(at_s=tick.now_s, cause_id=tick.plan_id, service_id=s.id, cause=why) for s in running]


def _starting(execution: Execution, tick: TickContext) -> list[ev.Event]:
    return [
        ev.ServiceStarting(at_s=tick.now_s, cause_id=tick.plan_id, service_id=s.id)
        for s in may_start(execution, tick.now_s)
    ]


def start_of(
    execution: Execution, service: Service, cause_id: str, storage: ServiceStorage, secret: str = ""
) -> ServiceStart:
    """Return everything that the back-end needs for one service."""
    assert service.node is not None
    bearing, component = bearer(execution), execution.component_of(service)
    return ServiceStart(
        service_id=service.id,
        execution_id=execution.id,
        tenant=execution.tenant,
        user=execution.user,
        component=component,
        index=service.index,
        node=service.node,
        peers=tuple(
            PeerService(s.id, s.component, s.index, s.node, execution.component_of(s).ports)
            for s in execution.current()
        ),
        cause_id=cause_id,
        attempt=execution.attempt,
        bears_gateway=bearing is not None and bearing.id == service.id,
        storage=storage,
        secret=secret if component.has_secret else "",
        promised=is_promised(execution),
    )
