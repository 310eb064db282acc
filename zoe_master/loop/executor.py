"""Carries a plan out: journal first, then idempotent calls, so that every step can be done again after a crash."""

from __future__ import annotations

from collections.abc import Mapping

import structlog

from zoe_lib.domain import events as ev
from zoe_lib.domain.consequences import may_start
from zoe_lib.domain.execution import Cause, Execution, ExecutionState, Service, ServiceId, ServiceState
from zoe_lib.domain.gateway import bearer
from zoe_lib.domain.locality import InputPlaces, places_of
from zoe_lib.domain.reasons import Reason
from zoe_master.backends.base import (
    Backend,
    BackendError,
    Observation,
    ObservedState,
    PeerService,
    ServiceStart,
    ServiceStorage,
)
from zoe_master.crash_points import CrashPoint, Hit
from zoe_master.loop.port_secrets import PortSecrets
from zoe_master.scheduler.ordering.snapshot import Plan
from zoe_master.state.state_cache import StateCache
from zoe_master.state.tick_context import TickContext
from zoe_master.storage.input_places import Told
from zoe_master.storage.spark_config import SparkConfig

log = structlog.get_logger(__name__)

_ENDING = (ObservedState.STOPPING, ObservedState.ENDED, ObservedState.LOST)


class PlanExecutor:
    """Turns decisions into events and hands work to the back-end."""

    def __init__(
        self, cache: StateCache, backend: Backend, spark_config: SparkConfig, port_secrets: PortSecrets, hit: Hit
    ) -> None:
        self._cache = cache
        self._backend = backend
        self._connectors = spark_config
        self._sign_ins = port_secrets
        self._hit = hit

    def carry_out(self, plan: Plan, tick: TickContext, locality: Told) -> None:
        """Journal the plan: starts, with where their inputs lie; elastic placements, services taken back, reasons."""
        self._hit(CrashPoint.PLANNED)
        for execution_id, placements in plan.starts.items():
            places = self._places(execution_id, locality) if locality else ()
            start = ev.StartPlanned(at_s=tick.now_s, cause_id=tick.plan_id, placements=placements, places=places)
            self._place(execution_id, start, tick)
        for execution_id, placements in plan.elastic.items():
            planned = ev.ElasticPlaced(at_s=tick.now_s, cause_id=tick.plan_id, placements=placements)
            self._place(execution_id, planned, tick)
        for execution_id, services in plan.preempt.items():
            for service_id in services:
                self._preempt(execution_id, service_id, tick)
        self._give_reasons(plan, tick)

    def _places(self, execution_id: str, locality: Told) -> tuple[InputPlaces, ...]:
        execution = self._cache.get(execution_id)
        if execution is None or execution.application.storage is None:
            return ()
        return places_of(execution.application.storage.inputs, execution.tenant, locality)

    def drive(self, observations: Mapping[ServiceId, Observation], tick: TickContext) -> None:
        """Start what has its turn, finish starts that were left half done, stop what must go."""
        for execution in self._cache.moving():
            if execution.state is ExecutionState.STOPPING:
                self._stop_services(execution, tick)
            else:
                self._start_services(execution, observations, tick)
        self._repeat_stops(observations)

    def _place(self, execution_id: str, planned: ev.StartPlanned | ev.ElasticPlaced, tick: TickContext) -> None:
        """Journal it in one with the services whose turn has come by it; they are handed over when all is journaled."""
        execution = self._cache.get(execution_id)
        placed = self._cache.foresee(execution, [planned]) if execution is not None else None
        if execution is None or placed is None:
            return
        starting = _starting(placed, tick)
        after = self._cache.foresee(placed, starting)
        if self._cache.append(execution, [planned, *starting], after) is None:
            return
        self._hit(CrashPoint.START_PLANNED)
        if starting:
            self._hit(CrashPoint.SERVICE_STARTING)

    def _append(self, execution_id: str, event: ev.Event) -> Execution | None:
        execution = self._cache.get(execution_id)
        return self._cache.append(execution, [event]) if execution is not None else None

    def _preempt(self, execution_id: str, service_id: ServiceId, tick: TickContext) -> None:
        """Take an elastic service back: one that runs is asked to stop, one that was only placed ends here."""
        execution = self._cache.get(execution_id)
        if execution is None:
            return
        why = Cause.PREEMPTED
        event: ev.Event = ev.ServiceStopping(at_s=tick.now_s, cause_id=tick.plan_id, service_id=service_id, cause=why)
        if execution.service(service_id).state is ServiceState.CREATED:
            event = ev.ServiceEnded(at_s=tick.now_s, cause_id=tick.plan_id, service_id=service_id, cause=why)
        self._append(execution_id, event)

    def _give_reasons(self, plan: Plan, tick: TickContext) -> None:
        own, common = plan.reasons.own, plan.reasons.common
        for execution_id, reason in own.items():
            self._give_reason(execution_id, reason, tick)
        if common is None:
            return
        for execution in self._cache.backlog.told_otherwise(common):
            if execution.id not in own and execution.id not in plan.starts:
                self._give_reason(execution.id, common, tick)

    def _give_reason(self, execution_id: str, reason: Reason, tick: TickContext) -> None:
        execution = self._cache.get(execution_id)
        if execution is None or execution.reason is reason or execution.reason == reason:
            return
        if execution.state is ExecutionState.QUEUED:
            self._cache.append(execution, [ev.ReasonChanged(at_s=tick.now_s, cause_id=tick.plan_id, reason=reason)])

    def _start_services(
        self, execution: Execution, observations: Mapping[ServiceId, Observation], tick: TickContext
    ) -> None:
        due = _starting(execution, tick)
        if due:
            changed = self._cache.append(execution, due)
            if changed is None:
                return
            execution = changed
            self._hit(CrashPoint.SERVICE_STARTING)
        to_start = [s for s in execution.services if s.state is ServiceState.STARTING and s.id not in observations]
        if to_start:
            access, needs_secret = (
                self._connectors.access(execution),
                any(c.has_secret for c in execution.application.components),
            )
            secret = self._sign_ins.secret(execution) if needs_secret else ""
            for service in to_start:
                self._hand_over(start_of(execution, service, tick.plan_id, access, secret))
            self._hit(CrashPoint.SERVICE_HANDED_OVER)

    def _hand_over(self, start: ServiceStart) -> None:
        """One that the back-end does not take now is found half done, and handed over again, by the next tick."""
        try:
            self._backend.start(start)
        except BackendError as error:
            log.warning("not handed to the back-end", service=start.service_id, why=str(error))

    def _stop_services(self, execution: Execution, tick: TickContext) -> None:
        running = [s for s in execution.services if s.state in (ServiceState.STARTING, ServiceState.READY)]
        why = Cause.CANCELLED if execution.cause is Cause.CANCELLED else Cause.STOPPED
        events = [
            ev.ServiceStopping(at_s=tick.now_s, cause_id=tick.plan_id, service_id=s.id, cause=why) for s in running
        ]
        if running and self._cache.append(execution, events) is not None:
            self._hit(CrashPoint.SERVICE_STOPPING)

    def _repeat_stops(self, observations: Mapping[ServiceId, Observation]) -> None:
        """Ask for every stop until the back-end reports it: a crash between journal and call leaves nothing running."""
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


def _starting(execution: Execution, tick: TickContext) -> list[ev.Event]:
    return [
        ev.ServiceStarting(at_s=tick.now_s, cause_id=tick.plan_id, service_id=s.id)
        for s in may_start(execution, tick.now_s)
    ]


def start_of(
    execution: Execution, service: Service, cause_id: str, storage: ServiceStorage, secret: str = ""
) -> ServiceStart:
    """Everything the back-end needs for one service."""
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
    )
